package place

import "dogear/engine"

// Area is p as it can be compared with others: a folder without symbolic links
// on the way, or bucket and prefix in an object store that store names. as is
// how people wrote it.
func (r Roots) Area(p Place, as string, store func() (string, error)) (engine.Area, error) {
	area := engine.Area{Glob: p.Glob.String(), As: as}
	if !p.S3() {
		var err error
		area.Root, err = r.MayExist(p.Root)
		return area, err
	}
	name, err := store()
	area.Root = scheme + name + "/" + p.Bucket + "/" + p.Root
	return area, err
}
