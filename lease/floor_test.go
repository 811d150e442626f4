package lease

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestView_Floor(t *testing.T) {
	for name, tc := range map[string]struct {
		view       View
		rev, epoch uint64
	}{
		"higher":            {View{KMSN: "4711", Rev: 200, Epoch: 20}, 200, 20},
		"lower":             {View{KMSN: "4711", Rev: 50, Epoch: 5}, 100, 10},
		"restored backup":   {View{KMSN: "4711", Rev: 50, Epoch: 12}, 100, 12},
		"no rev, as others": {View{KMSN: "4711", Epoch: 41}, 100, 41},
		"another site":      {View{KMSN: "0815", Rev: 200, Epoch: 20}, 100, 10},
		"rev out of reach":  {View{KMSN: "4711", Rev: floorStep + 101, Epoch: 20}, 100, 10},
		"epoch absurd":      {View{KMSN: "4711", Rev: 200, Epoch: MaxRev}, 100, 10},
		"none":              {View{}, 100, 10},
	} {
		t.Run(name, func(t *testing.T) {
			rev, epoch := tc.view.Floor("4711", 100, 10)
			require.Equal(t, [2]uint64{tc.rev, tc.epoch}, [2]uint64{rev, epoch})
		})
	}
	rev, _ := View{KMSN: "4711", Rev: MaxRev/2 + 1}.Floor("4711", MaxRev/2, 1)
	require.Equal(t, uint64(MaxRev/2), rev, "half of the revs are kept in reserve")
}
