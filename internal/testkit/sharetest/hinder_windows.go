package sharetest

import "os"

// readersHinder: Windows refuses to replace a file that somebody has open.
const readersHinder = true

// oddKinds make what may stand in place of a file.
var oddKinds = map[string]func(path string) error{
	"folder": func(path string) error { return os.Mkdir(path, 0o777) },
}
