//go:build !linux && !windows

package lanaddr

// details knows of no gateways here: the choice rests on the routes.
func details() (detail, error) { return detail{}, nil }
