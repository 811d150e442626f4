package localsite

// Tap calls f with every datagram the switch carries, from its own goroutines;
// f may keep the packet. Nil ends it.
func (w *Switch) Tap(f func(from, to int, packet []byte)) {
	if f == nil {
		w.tap.Store(nil)
		return
	}
	w.tap.Store(&f)
}

// tapped shows a datagram to who taps.
func (w *Switch) tapped(from, to int, packet []byte) {
	if f := w.tap.Load(); f != nil {
		(*f)(from, to, append([]byte(nil), packet...))
	}
}

// Inject sends a datagram to a node as if another one had sent it.
func (w *Switch) Inject(from, to int, packet []byte) {
	_, _ = w.udp[from].WriteToUDP(packet, w.udpAddr(w.private(to))) // a node that is off hears nothing
}
