package relayproc

// sabotageGuard does nothing here: what a test does to a guard it does from
// outside.
func sabotageGuard() {}

// oddRoles are played by this program in tests of this system only.
var oddRoles = map[string]func(){"humble": beHumble, "reserved": sayReserved}
