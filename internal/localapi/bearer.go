package localapi

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// bearerInfo separates this key from the lease's and gossip's.
const bearerInfo = "floatrelay api v1"

// Bearer derives the secret that changing requests carry from the site's token
// and its KMSN: 64 hex digits. It gives away neither. An empty token gives an
// empty bearer, which opens nothing.
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

// authorized compares in constant time with every accepted bearer. During a
// rotation there are two.
func authorized(r *http.Request, accepted []string) bool {
	scheme, got, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	ok := 0
	for _, want := range accepted {
		if want != "" {
			ok |= subtle.ConstantTimeCompare([]byte(got), []byte(want))
		}
	}
	return ok == 1
}
