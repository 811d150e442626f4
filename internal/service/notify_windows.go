package service

// Notify has nobody to tell here.
func Notify(string) {}
