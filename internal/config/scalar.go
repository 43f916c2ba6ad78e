package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// scan reads the text of a scalar, without its enum and bounds. The error says only what is wrong with the form and
// never repeats the text, which may be a secret.
func (f *field) scan(text string) (reflect.Value, error) {
	v := reflect.New(f.typ).Elem()
	switch f.kind {
	case kindBool:
		b, ok := parseBool(text)
		if !ok {
			return v, errors.New("not true or false")
		}
		v.SetBool(b)
	case kindInt:
		digits, err := plainDigits(text)
		if err != nil {
			return v, err
		}
		i, err := strconv.ParseInt(digits, 0, f.typ.Bits())
		if err != nil {
			return v, numberError(err)
		}
		v.SetInt(i)
	case kindUint:
		digits, err := plainDigits(text)
		if err != nil {
			return v, err
		}
		u, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 0, f.typ.Bits())
		if err != nil {
			return v, numberError(err)
		}
		v.SetUint(u)
	case kindFloat:
		x, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), f.typ.Bits())
		if err != nil {
			return v, numberError(err)
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return v, errors.New("not a finite number")
		}
		v.SetFloat(x)
	case kindText:
		if !utf8.ValidString(text) {
			return v, errors.New("not valid UTF-8")
		}
		v.SetString(text)
	case kindDuration:
		d, err := parseDuration(text)
		if err != nil {
			return v, err
		}
		v.SetInt(int64(d))
	case kindBytes:
		size, err := parseBytes(text)
		if err != nil {
			return v, err
		}
		v.SetInt(size)
	default:
		return v, fmt.Errorf("%s is not a single value", f.key)
	}
	return v, nil
}

// parse reads the text of a scalar and holds it against its enum and bounds. The error is fit for a person and shows
// the text only where it is no secret.
func (f *field) parse(given string) (reflect.Value, error) {
	v, err := f.scan(given)
	if err == nil {
		err = f.check(v)
	}
	if err == nil {
		return v, nil
	}
	got := clip(given)
	if f.secret {
		got = "a value that is not shown"
	}
	near := ""
	if f.enum != nil && !f.secret {
		if word := text.Nearest(given, f.enum); word != "" {
			near = fmt.Sprintf("; did you mean %q?", word)
		}
	}
	return v, fmt.Errorf("expected %s, got %s (%w)%s", f.expected(), got, err, near)
}

// check holds a scalar against its enum and bounds.
func (f *field) check(v reflect.Value) error {
	if f.enum != nil {
		if slices.Contains(f.enum, v.String()) {
			return nil
		}
		return errors.New("not one of the allowed values")
	}
	if f.low.IsValid() && compare(v, f.low) < 0 {
		return errors.New("too small")
	}
	if f.high.IsValid() && compare(v, f.high) > 0 {
		return errors.New("too large")
	}
	return nil
}

// format writes a scalar so that scan reads it back.
func (f *field) format(v reflect.Value) string {
	switch f.kind {
	case kindBool:
		return strconv.FormatBool(v.Bool())
	case kindInt:
		return strconv.FormatInt(v.Int(), 10)
	case kindUint:
		return strconv.FormatUint(v.Uint(), 10)
	case kindFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, f.typ.Bits())
	case kindDuration:
		return formatDuration(time.Duration(v.Int()))
	case kindBytes:
		return formatBytes(v.Int())
	default:
		return v.String()
	}
}

// compare orders two numbers of one kind.
func compare(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	default:
		return cmp.Compare(a.Float(), b.Float())
	}
}

// parseBool accepts what people put into environment variables. In files only true and false get this far.
func parseBool(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// plainDigits refuses 010, which some readers take for ten and others for eight.
func plainDigits(text string) (string, error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimLeft(text, "+-")
	if len(digits) > 1 && digits[0] == '0' && (digits[1] >= '0' && digits[1] <= '9' || digits[1] == '_') {
		return "", errors.New("a leading zero could mean octal")
	}
	return text, nil
}

// numberError keeps the reason of a strconv error and drops the text it repeats.
func numberError(err error) error {
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("does not fit")
	}
	return errors.New("not a number of this kind")
}
