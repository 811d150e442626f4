package lease

// floorStep bounds how far a view may raise what is known: a renewal every
// half second for sixteen years. A forged or damaged view cannot use up the ten
// digits of a rev with it.
const floorStep = 1_000_000_000

// Floor returns the highest rev and epoch known once the view has been looked
// at: rev and epoch as known before, raised by the view if it is of our site
// and plausible. Revs and epochs then keep growing although a folder was lost.
func (v View) Floor(kmsn string, rev, epoch uint64) (uint64, uint64) {
	if v.KMSN != kmsn || v.Rev > min(rev+floorStep, MaxRev/2) || v.Epoch > min(epoch+floorStep, MaxRev/2) {
		return rev, epoch
	}
	return max(rev, v.Rev), max(epoch, v.Epoch)
}
