package wine

import "golang.org/x/sys/windows"

// Running reports whether this is wine: its ntdll says so itself.
func Running() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
