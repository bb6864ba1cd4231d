package app

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"dogear/engine"
)

// lockPatience is how long a lock may outlive its server: a process that it was
// just starting when it was killed has the lock until that has begun.
const lockPatience = 500 * time.Millisecond

// lockData keeps a second server away from a data folder. The lock goes with
// the process, however it ends.
func lockData(data string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for end := time.Now().Add(lockPatience); err != nil && time.Now().Before(end); {
		time.Sleep(lockPatience / 50)
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		_ = file.Close()
		return nil, engine.Errorf(engine.Conflict, "Another server runs on %s. Stop it, or give this one a data folder of its own.", data)
	}
	return func() { _ = file.Close() }, nil
}
