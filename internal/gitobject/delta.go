package gitobject

// applyDelta makes an object of another one: a delta says how long both are, and then
// which parts to copy and which bytes to put between them.
func applyDelta(base, delta []byte, most int64) ([]byte, error) {
	from, delta, ok := deltaSize(delta)
	if !ok || from != int64(len(base)) {
		return nil, ErrOdd
	}
	size, delta, ok := deltaSize(delta)
	if !ok {
		return nil, ErrOdd
	}
	if size > most {
		return nil, ErrTooMuch
	}
	out := make([]byte, 0, min(size, 1<<20))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var part []byte
		switch {
		case op&0x80 != 0:
			var start, n int64
			if start, n, delta, ok = deltaCopy(op, delta); !ok || start+n > int64(len(base)) {
				return nil, ErrOdd
			}
			part = base[start : start+n]
		case op == 0 || int(op) > len(delta):
			return nil, ErrOdd
		default:
			part, delta = delta[:op], delta[op:]
		}
		if int64(len(out)+len(part)) > size {
			return nil, ErrOdd
		}
		out = append(out, part...)
	}
	if int64(len(out)) != size {
		return nil, ErrOdd
	}
	return out, nil
}

// deltaCopy reads which part of the base is copied: the bits of the first byte say
// which bytes of the two numbers follow.
func deltaCopy(op byte, delta []byte) (start, n int64, rest []byte, ok bool) {
	for bit := range 7 {
		if op>>bit&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return 0, 0, nil, false
		}
		if bit < 4 {
			start |= int64(delta[0]) << (8 * bit)
		} else {
			n |= int64(delta[0]) << (8 * (bit - 4))
		}
		delta = delta[1:]
	}
	if n == 0 {
		n = 0x10000
	}
	return start, n, delta, true
}

// deltaSize reads a number in parts of seven bits, the lowest first.
func deltaSize(delta []byte) (size int64, rest []byte, ok bool) {
	for shift := 0; shift < 56 && len(delta) > 0; shift += 7 {
		b := delta[0]
		delta = delta[1:]
		size |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, delta, true
		}
	}
	return 0, nil, false
}
