package gitindex

import (
	"bytes"
	"encoding/binary"
)

// Git reads a large index with several threads. Two extensions tell it where
// the entries end and where the parts begin, and it believes them: a forged one
// would have it read other entries than are seen here.

// endsHere checks the end of the entries as an extension tells it. Git looks for
// that one at the end of the file, whatever lies around it.
func (r *reader) endsHere(data []byte) bool {
	end := len(data) - r.hash
	at := end - 8 - 4 - r.hash
	if at < header || !bytes.HasPrefix(data[at:], []byte("EOIE")) {
		return true
	}
	return binary.BigEndian.Uint32(data[at+4:]) == uint32(4+r.hash) && int64(binary.BigEndian.Uint32(data[at+8:])) == int64(end-len(r.rest))
}

// sameBlocks checks that the parts are the entries one after the other. The
// first name of each must be whole.
func (r *reader) sameBlocks(body []byte) bool {
	if len(body) < 4 || (len(body)-4)%8 != 0 || binary.BigEndian.Uint32(body) != 1 {
		return false
	}
	starts := r.starts
	for body = body[4:]; len(body) > 0; body = body[8:] {
		at, count := binary.BigEndian.Uint32(body), uint64(binary.BigEndian.Uint32(body[4:]))
		if count == 0 || count > uint64(len(starts)) || at == 0 || at != starts[0] {
			return false
		}
		starts = starts[count:]
	}
	return len(starts) == 0
}
