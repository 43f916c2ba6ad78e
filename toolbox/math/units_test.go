package math

import (
	"testing"

	"pgregory.net/rapid"
)

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		value    float64
		from, to string
		want     float64
		category string
		err      string
	}{
		{1, "km", "mi", 0.621371192237334, "length", ""},
		{1, "\u00a0KM\u2003", "Mi", 0.621371192237334, "length", ""},
		{1, "lb", "kg", 0.45359237, "mass", ""},
		{1, "gal", "l", 3.785411784, "volume", ""},
		{1, "week", "h", 168, "time", ""},
		{90, "km/h", "m/s", 25, "speed", ""},
		{1, "acre", "m2", 4046.8564224, "area", ""},
		{1, "gib", "mb", 1073.741824, "data", ""},
		{1, "b", "bit", 8, "data", ""},
		{-40, "f", "c", -40, "temperature", ""},
		{100, "°C", "°F", 212, "temperature", ""},
		{1, "c.", "f", 33.8, "temperature", ""},
		{0, "K", "celsius", -273.15, "temperature", ""},
		{1, "\u212a", "k", 1, "temperature", ""}, // the Kelvin sign
		{1, "c.", "f.", 0, "unknown", "Unknown unit: 'c.'"},
		{1, "m", "c", 0, "temperature", "Unknown temperature unit: 'm'"},
		{1, "C", "KM", 0, "temperature", "Unknown temperature unit: 'km'"},
		{1, "XX", "m", 0, "unknown", "Unknown unit: 'XX'"},
		{1, "m", "Yy", 0, "unknown", "Unknown unit: 'Yy'"},
		{1, "m\u0130", "km", 0, "unknown", "Unknown unit: 'm\u0130'"},
		{1, "kg", "m", 0, "mass", "Incompatible categories: 'mass' vs 'length'"},
	} {
		got := convert(c.value, c.from, c.to)
		text := ""
		if got.err != nil {
			text = got.err.Error()
		}
		if got.category != c.category || text != c.err || text == "" && got.value != c.want {
			t.Errorf("%v %q to %q: %v, want %v", c.value, c.from, c.to, got, c)
		}
	}
}

func TestConvertOutOfRange(t *testing.T) {
	got, failed := run(t, "unit_convert", `{"value": 1e300, "from_unit": "ly", "to_unit": "mm"}`)
	if failed || got["result"] != nil || got["special"] != "inf" || got["error"] != nil {
		t.Errorf("failed %v, %v", failed, got)
	}
}

// TestConvertAndBack: going there and back changes next to nothing.
func TestConvertAndBack(t *testing.T) {
	groups := [][]string{
		{"mm", "cm", "m", "km", "in", "ft", "yd", "mi", "nmi", "ly"},
		{"mg", "g", "kg", "t", "oz", "lb", "stone", "ton"},
		{"ml", "l", "cl", "dl", "m3", "mm3", "tsp", "tbsp", "floz", "cup", "pt", "qt", "gal"},
		{"ns", "us", "ms", "s", "min", "h", "d", "week", "year"},
		{"m/s", "km/h", "mph", "knot", "ft/s"},
		{"mm2", "cm2", "m2", "km2", "ha", "acre", "ft2", "yd2", "mi2"},
		{"bit", "byte", "kb", "kib", "mb", "mib", "gb", "gib", "tb", "tib", "pb"},
	}
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SampledFrom(groups).Draw(t, "group")
		from, to := rapid.SampledFrom(units).Draw(t, "from"), rapid.SampledFrom(units).Draw(t, "to")
		v := float64(rapid.Int64Range(-1e12, 1e12).Draw(t, "value")) / 1000
		there := convert(v, from, to)
		back := convert(there.value, to, from)
		if there.err != nil || back.err != nil {
			t.Fatalf("%v, %v", there.err, back.err)
		}
		if d := back.value - v; d > 1e-12*max(v, -v) || -d > 1e-12*max(v, -v) {
			t.Fatalf("%v %s is %v %s is %v", v, from, there.value, to, back.value)
		}
	})
}
