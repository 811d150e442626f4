package words

import (
	"fmt"
	"time"
)

// duration is a length of time, or "" for none.
func (l Lang) duration(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case l == English:
		return d.String()
	case d < time.Minute:
		return fmt.Sprintf("%g 秒", d.Seconds())
	case d%time.Minute == 0:
		return fmt.Sprintf("%d 分鐘", d/time.Minute)
	}
	return fmt.Sprintf("%d 分 %g 秒", d/time.Minute, (d % time.Minute).Seconds())
}

// age is how long ago something was, rounded down to its largest unit, because
// nobody acts on the rest. Zero is just now.
func (l Lang) age(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d, 0)
	unit, n := 0, d/time.Second
	switch {
	case d < time.Minute:
	case d < time.Hour:
		unit, n = 1, d/time.Minute
	case d < 2*day:
		unit, n = 2, d/time.Hour
	default:
		unit, n = 3, d/day
	}
	if l == Chinese {
		return fmt.Sprintf("%d %s", n, [...]string{"秒", "分鐘", "小時", "天"}[unit])
	}
	return fmt.Sprintf("%d%s", n, [...]string{"s", "m", "h", "d"}[unit])
}
