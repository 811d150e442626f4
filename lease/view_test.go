package lease

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestView_EncodeIsWhatEveryReaderKnows(t *testing.T) {
	c := testCodec(t, "secret")
	r := testRecord(42)
	r.Station, r.LeaseUntil = "功<&>", ""
	b := c.View(r, true, 77).Encode()
	require.Equal(t, `{"kmsn":"4711","station":"\u529f<&>","ip":"192.168.1.10","port":9530,"pid":77,"epoch":7,`+
		`"lease_until":"20260115123010","rev":42,"share":"`+testShare+`","node":"00000001-1111-4111-8111-111111111111",`+
		`"run":"000000000001","state":"held","ready":true,"v":1}`+"\n", string(b))
	requireFloor(t, string(b), agreedFloor)
}
