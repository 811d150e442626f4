package relayproc

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeTree is a tree that only has a name.
type fakeTree struct {
	tree
	name string
}

func TestRecorder_NeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		var wrote []string
		r := newRecorder(func(t tree) {
			<-disk
			wrote = append(wrote, t.(fakeTree).name)
		})
		for _, name := range []string{"a", "b", "c", "d"} { // returns at once, or the bubble is dead
			r.note(fakeTree{name: name})
			synctest.Wait()
		}
		began := time.Now()
		require.False(t, r.finish(), "a disk that stands still")
		require.Equal(t, recordPatience, time.Since(began))
		close(disk)
		synctest.Wait()
		require.Len(t, wrote, 2, "the first, and whatever came after it at once")
		require.Equal(t, "d", wrote[1])
	})
}

func TestRecorder_FinishesWhatItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrote []string
		r := newRecorder(func(t tree) {
			time.Sleep(recordPatience / 2)
			wrote = append(wrote, t.(fakeTree).name)
		})
		r.note(fakeTree{name: "a"})
		require.True(t, r.finish())
		require.Equal(t, []string{"a"}, wrote)
	})
}
