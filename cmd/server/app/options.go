package app

import (
	"net/url"
	"os"

	"dogear/engine"
)

// Check refuses flags that cannot work, before anything is made or opened.
func (o *Options) Check() error {
	if o.Slots < 1 {
		return engine.Errorf(engine.Invalid, "--slots is %d; with less than 1 nothing would ever run.", o.Slots)
	}
	for _, root := range o.Root {
		info, err := os.Stat(root)
		switch {
		case os.IsNotExist(err):
			return engine.Errorf(engine.Invalid, "--root %s does not exist. Make the folder, or correct the path.", root)
		case err != nil:
			return engine.Errorf(engine.Invalid, "--root %s cannot be looked at: %w", root, err)
		case !info.IsDir():
			return engine.Errorf(engine.Invalid, "--root %s is not a folder.", root)
		}
	}
	if o.Python != "" {
		if info, err := os.Stat(o.Python); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return engine.Errorf(engine.Invalid, "--python %s is not a program that can be run. Give the path of a Python, such as /usr/bin/python3.", o.Python)
		}
	}
	if o.Origin == "" {
		return nil
	}
	at, err := url.Parse(o.Origin)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.Hostname() == "" ||
		at.User != nil || at.Path != "" || at.RawQuery != "" || at.Fragment != "" {
		return engine.Errorf(engine.Invalid, "--origin %s is not an address such as https://dogear.example: http or https, a host, perhaps a port, and nothing behind it.", o.Origin)
	}
	return nil
}
