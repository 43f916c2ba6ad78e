package secrets

const (
	partnerReach = 160 // how far from the name of a key its secret is looked for
	partnerLines = 3
)

// partnerSize is the length of the secret that belongs to the identifier a rule
// finds. Nothing but its length and its place tells such a secret.
func partnerSize(rule string) int {
	switch rule {
	case "aws-access-key", "google-hmac-key":
		return 40
	case "alibaba-access-key":
		return 30
	case "tencent-secret-id":
		return 32
	}
	return 0
}

// partner looks for the secret that stands before or behind its identifier.
func (h *textScan) partner(from, to, size int) {
	t := h.text
	lines := 0
	for i := to; i < len(t) && i-to < partnerReach && lines <= partnerLines; {
		if t[i] == '\n' {
			lines++
		}
		end := endOf(t, i, size+1, secretByte)
		if end == i {
			i++
			continue
		}
		if end-i == size && looksDrawn(t[i:end]) {
			h.add(i, end, ruleNear)
			return
		}
		i = endOf(t, end, partnerReach-(end-to), secretByte)
	}
	lines = 0
	for i := from; i > 0 && from-i < partnerReach && lines <= partnerLines; {
		if t[i-1] == '\n' {
			lines++
		}
		begin := beginOf(t, i, size+1, secretByte)
		if begin == i {
			i--
			continue
		}
		if i-begin == size && looksDrawn(t[begin:i]) {
			h.add(begin, i, ruleNear)
			return
		}
		i = beginOf(t, begin, partnerReach-(from-begin), secretByte)
	}
}

func secretByte(c byte) bool { return digit(c) || letter(c) || c == '+' || c == '/' }

// looksDrawn: letters of both cases and digits in no order, so that it is no
// hash and no name.
func looksDrawn(s string) bool {
	m := compositionOf(s)
	return m.upper > 1 && m.lower > 1 && m.letters() > 5 && !m.hex && m.bits > 3 && !wordy(s)
}
