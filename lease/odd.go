package lease

import "errors"

// oddFile says that something stands in the way of a name that we do not use
// and do not follow: a link, a FIFO, a device, or a folder in place of a file.
type oddFile struct{ what string }

func (o *oddFile) Error() string { return o.what }

// Is makes it an ErrIrregular wherever it is wrapped.
func (o *oddFile) Is(target error) bool { return target == ErrIrregular || target == ErrDenied }

// Irregular returns an ErrIrregular that says what was found at name in place of
// a regular file, or of a folder: "a link", "a FIFO".
func Irregular(name, what string, folder bool) error {
	want := "a regular file"
	if folder {
		want = "a folder"
	}
	return &oddFile{what: name + " is " + what + " where " + want + " belongs; remove it"}
}

// IrregularCause returns what an ErrIrregular found, in words, or "".
func IrregularCause(err error) string {
	var odd *oddFile
	if errors.As(err, &odd) {
		return odd.what
	}
	return ""
}
