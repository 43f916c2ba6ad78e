package secrets

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strings"
)

// publicAddress: an account of a chain, or the name of a content, in base 58. Those
// are made to be shown. Private keys in that form are longer, or begin otherwise.
func publicAddress(word string) bool {
	if len(word) < 32 || len(word) > 46 {
		return false
	}
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n, base := new(big.Int), big.NewInt(int64(len(digits)))
	for i := range len(word) {
		value := strings.IndexByte(digits, word[i])
		if value < 0 {
			return false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(value)))
	}
	zeros := len(word) - len(strings.TrimLeft(word, "1"))
	data := append(make([]byte, zeros), n.Bytes()...)
	switch len(data) {
	case 25: // with a check of its own
		first := sha256.Sum256(data[:21])
		second := sha256.Sum256(first[:])
		return bytes.Equal(second[:4], data[21:])
	case 32:
		return true
	case 34: // a SHA-256, and that it is one
		return data[0] == 0x12 && data[1] == 0x20
	}
	return false
}
