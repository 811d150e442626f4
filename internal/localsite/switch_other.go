//go:build !linux

package localsite

import "errors"

// Switch is there on Linux only.
type Switch struct{ Port int }

func newSwitch(*Site) (*Switch, error) {
	return nil, errors.New("put a switch between the nodes: Linux only")
}

func (*Switch) run()               {}
func (*Switch) public(int) string  { return "" }
func (*Switch) private(int) string { return "" }

// Close ends the switch.
func (*Switch) Close() {}
