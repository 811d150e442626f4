package lease

// oddFile says that something stands in the way of a name that we do not use
// and do not follow: a link, a FIFO, a device, or a folder in place of a file.
type oddFile struct{ what string }

func (o *oddFile) Error() string { return o.what }

// oddInPlace is an oddFile for something found in place of a file or a folder.
func oddInPlace(what string, folder bool) error {
	want := "a regular file"
	if folder {
		want = "a folder"
	}
	return &oddFile{what: "it is " + what + " where " + want + " belongs; remove it"}
}
