package doctor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// What netsh prints on an English and on a Chinese Windows.
const (
	netshExcluded = "\r\nProtocol tcp Port Exclusion Ranges\r\n\r\nStart Port    End Port\r\n----------    --------\r\n" +
		"      5357        5357\r\n      9500        9599\r\n     50000       50059     *\r\n\r\n* - Administered port exclusions.\r\n\r\n"
	netshExcludedZH = "\r\n\xe9\x80\x9a\xe8\xa8\x8a\xe5\x8d\x94\xe5\xae\x9a tcp \xe9\x80\xa3\xe6\x8e\xa5\xe5\x9f\xa0\r\n\r\n----------    --------\r\n      9500        9599\r\n"
	netshDynamic    = "\r\nProtocol tcp Dynamic Port Range\r\n---------------------------------\r\nStart Port      : 49152\r\nNumber of Ports : 16384\r\n\r\n"
)

func TestParseNetsh(t *testing.T) {
	kept, spared := parseExcluded(netshExcluded)
	require.Equal(t, []span{{5357, 5357}, {9500, 9599}}, kept)
	require.Equal(t, []span{{50000, 50059}}, spared)
	kept, spared = parseExcluded(netshExcludedZH)
	require.Equal(t, []span{{9500, 9599}}, kept)
	require.Empty(t, spared)
	require.Equal(t, span{49152, 65535}, parseDynamic(netshDynamic))
	require.Zero(t, parseDynamic("Access is denied.\r\n"))
	kept, _ = parseExcluded("")
	require.Empty(t, kept)
}

func TestParseSpans(t *testing.T) {
	require.Equal(t, []span{{8080, 8080}, {9000, 9100}}, parseSpans("8080,9000-9100\n"))
	require.Empty(t, parseSpans("\n"))
}

func TestRanges(t *testing.T) {
	r := portRanges{kept: []span{{9500, 9599}}, handed: span{32768, 60999}, spared: []span{{40000, 40001}}}
	judge := func(port int) []Result {
		return look(t, rangesCheck([]use{{port, "relay port", "RELAY_PORT"}}, func(context.Context) portRanges { return r }))
	}
	one(t, judge(9530), Failure, "relay port 9530 is in the range 9500-9599, which Windows keeps for itself", "another RELAY_PORT")
	one(t, judge(40002), Warning, "relay port 40002 is in the range 32768-60999, from which the system gives any program a port", "40002")
	require.Empty(t, judge(40001), "reserved by hand")
	require.Empty(t, judge(7946))
	one(t, look(t, rangesCheck([]use{{50000, "member port", "GOSSIP_PORT"}}, func(context.Context) portRanges { return r })), Warning, "member port 50000", "GOSSIP_PORT")
}

func TestRanges_OfThisSystem(t *testing.T) {
	r := systemRanges(t.Context())
	require.LessOrEqual(t, r.handed.first, r.handed.last)
}
