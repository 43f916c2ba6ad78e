package secrets

// plainLetter gives the letter, digit or sign of ASCII that a rune is another way to write: full
// width, mathematical, in a circle, raised. Zero: it is none of them.
func plainLetter(r rune) byte {
	switch {
	case r < 0xb2:
		return 0
	case r >= 0xff01 && r <= 0xff5e: // full width
		return byte(r - 0xfee0)
	case r >= 0x1d400 && r <= 0x1d6a3: // the mathematical alphabets, capitals before small letters
		if n := byte((r - 0x1d400) % 52); n < 26 {
			return 'A' + n
		} else {
			return 'a' + n - 26
		}
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return '0' + byte((r-0x1d7ce)%10)
	case r >= 0x24b6 && r <= 0x24cf: // in circles
		return 'A' + byte(r-0x24b6)
	case r >= 0x24d0 && r <= 0x24e9:
		return 'a' + byte(r-0x24d0)
	case r >= 0x2460 && r <= 0x2468:
		return '1' + byte(r-0x2460)
	case r >= 0x249c && r <= 0x24b5: // in brackets
		return 'a' + byte(r-0x249c)
	case r >= 0x1f130 && r <= 0x1f189: // in squares; those in black circles and squares follow after six others
		if n := (r - 0x1f130) % 32; n < 26 {
			return 'A' + byte(n)
		}
	case r >= 0x1f1e6 && r <= 0x1f1ff: // of flags
		return 'A' + byte(r-0x1f1e6)
	case r >= 0x2074 && r <= 0x2079: // raised, lowered
		return '4' + byte(r-0x2074)
	case r >= 0x2080 && r <= 0x2089:
		return '0' + byte(r-0x2080)
	}
	return letterlike(r)
}

// letterlike knows the letters that the mathematical alphabets leave out, since they were there
// before, and single signs.
func letterlike(r rune) byte {
	const from, letters = 0x2102, "C       gHHHh IILl N   PQRRR      Z   Z   BC eEF Mo"
	if n := int(r - from); n >= 0 && n < len(letters) && letters[n] != ' ' {
		return letters[n]
	}
	switch r {
	case 0x3000:
		return ' '
	case 0xb2, 0xb3:
		return '2' + byte(r-0xb2)
	case 0xb9:
		return '1'
	case 0x2070, 0x24ea:
		return '0'
	}
	return 0
}
