package relayproc

import "golang.org/x/sys/windows"

// confine puts this process, the guard, into a job of its own that ends with
// it. What it starts is born in that job, so that a relay created suspended and
// not yet in the job of its tree goes with a guard that is killed just then.
// The handle is never closed; the system does that with the guard's end.
func confine() error {
	j, err := newJob()
	if err != nil {
		return err
	}
	if err := j.add(windows.CurrentProcess()); err != nil {
		j.close()
		return err
	}
	return nil
}
