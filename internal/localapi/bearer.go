package localapi

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
)

// bearerInfo separates this key from the lease's and gossip's.
const bearerInfo = "floatrelay api v1"

// Bearer derives the secret that changing requests are proved with from the
// site's token and its KMSN: 64 hex digits. It gives away neither, and never
// travels itself. An empty token gives an empty bearer, which opens nothing.
func Bearer(token, kmsn string) string {
	if token == "" {
		return ""
	}
	key, err := hkdf.Key(sha256.New, []byte(token), []byte(kmsn), bearerInfo, sha256.Size)
	if err != nil {
		// Key fails only for lengths above 255 hashes or, in FIPS mode, for
		// secrets that are too short. Opening nothing is the safe answer.
		return ""
	}
	return hex.EncodeToString(key)
}
