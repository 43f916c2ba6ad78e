package config

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxNumber bounds the digits of a number with a unit: more cannot fit into 64 bits anyway.
const maxNumber = 40

// cutNumber splits text into a leading decimal number and the rest.
func cutNumber(text string) (number *big.Rat, rest string, ok bool) {
	end, dots := 0, 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		if text[end] == '.' {
			dots++
		}
		end++
	}
	digits := text[:end]
	if dots > 1 || end > maxNumber || strings.HasPrefix(digits, ".") || strings.HasSuffix(digits, ".") {
		return nil, "", false
	}
	number, ok = new(big.Rat).SetString(digits)
	return number, text[end:], ok
}

// wholeProduct gives number × unit if that is a whole number that fits into an int64.
func wholeProduct(number *big.Rat, unit int64) (int64, bool) {
	product := new(big.Rat).Mul(number, new(big.Rat).SetInt64(unit))
	if !product.IsInt() || !product.Num().IsInt64() {
		return 0, false
	}
	return product.Num().Int64(), true
}

// parseBytes reads a size: a plain number of bytes, or a number with a unit of 1000 (kB, MB, …) or 1024 (KiB, MiB, …).
func parseBytes(text string) (int64, error) {
	text = strings.TrimSpace(text)
	number, unit, ok := cutNumber(strings.ReplaceAll(text, "_", ""))
	if !ok {
		return 0, errors.New("not a size")
	}
	units := byteUnits()
	at := slices.IndexFunc(units, func(u byteUnit) bool { return strings.EqualFold(u.name, strings.TrimLeft(unit, " ")) })
	if at < 0 {
		return 0, errors.New("the unit is not one of B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB")
	}
	size, ok := wholeProduct(number, units[at].size)
	if !ok {
		return 0, errors.New("not a whole number of bytes that fits into 63 bits")
	}
	return size, nil
}

// byteUnits are the units of sizes, with those of 1024 first and the larger before the smaller.
func byteUnits() []byteUnit {
	return []byteUnit{
		{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}, {"", 1},
	}
}

type byteUnit struct {
	name string
	size int64
}

// formatBytes writes a size in the largest unit that shows it exactly.
func formatBytes(size int64) string {
	for _, unit := range byteUnits() {
		if size > 0 && size%unit.size == 0 && unit.size > 1 {
			return strconv.FormatInt(size/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(size, 10)
}

const day = 24 * time.Hour

// parseDuration reads a duration: numbers with units from ns to d, one after the other, or a plain 0. Negative ones are
// refused, because no setting means anything by them.
func parseDuration(text string) (time.Duration, error) {
	rest := strings.TrimSpace(text)
	if rest == "0" {
		return 0, nil
	}
	if rest == "" {
		return 0, errors.New("not a duration")
	}
	units := map[string]time.Duration{
		"ns": time.Nanosecond, "us": time.Microsecond, "\u00b5s": time.Microsecond, "\u03bcs": time.Microsecond, // micro sign and Greek mu look the same
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": day,
	}
	total := new(big.Int)
	for rest != "" {
		number, after, ok := cutNumber(rest)
		if !ok {
			return 0, errors.New("not a duration")
		}
		end := strings.IndexAny(after, "0123456789.")
		if end < 0 {
			end = len(after)
		}
		unit, ok := units[after[:end]]
		if !ok {
			return 0, errors.New("the unit is not one of ns, us, ms, s, m, h, d")
		}
		part, ok := wholeProduct(number, int64(unit))
		if !ok {
			return 0, errors.New("finer than a nanosecond or longer than 292 years")
		}
		total.Add(total, big.NewInt(part))
		rest = after[end:]
	}
	if !total.IsInt64() {
		return 0, errors.New("longer than 292 years")
	}
	return time.Duration(total.Int64()), nil
}

// formatDuration writes a duration as people write it: 90d, 1d12h, 1h30m, 30s, 250ms.
func formatDuration(d time.Duration) string {
	if d < 0 {
		return d.String()
	}
	days, rest := d/day, d%day
	text := rest.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if days == 0 {
		return text
	}
	if rest == 0 {
		text = ""
	}
	return strconv.FormatInt(int64(days), 10) + "d" + text
}
