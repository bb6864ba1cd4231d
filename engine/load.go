package engine

// Load is how busy a server is, and what room it has.
type Load struct {
	Slots   int // of this server
	Working int // of them, those that are taken
	Waiting int // node runs of the database that are ready and wait for their turn
	// Free and Disk are the bytes that are free on the disk of the data folder, and
	// all of it. Both are 0 where that is not known.
	Free, Disk int64
	Database   int64 // bytes
	Shared     bool  // the database is one that several servers may use
}

// TightDisk is the share of a disk, in per cent, below which its free space is
// worth a word.
const TightDisk = 10

// Tight reports whether the disk of the data folder is nearly full.
func (l *Load) Tight() bool { return l.Disk > 0 && l.Free*100 < l.Disk*TightDisk }
