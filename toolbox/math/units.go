package math

import "strings"

// conversion is the answer to a unit conversion.
type conversion struct {
	value    float64
	category string
	err      error
}

// convert changes a value from one unit to another. Spaces around the names
// and upper case do not matter; so MB and mb are the same thing.
func convert(value float64, from, to string) conversion {
	f, t := unitName(from), unitName(to)
	if isTemperature(f) || isTemperature(t) {
		v, err := convertTemperature(value, f, t)
		return conversion{v, "temperature", err}
	}
	fromCat, fromFactor, ok := unit(f)
	if !ok {
		return conversion{0, "unknown", evalError("Unknown unit: '" + from + "'")}
	}
	toCat, toFactor, ok := unit(t)
	if !ok {
		return conversion{0, "unknown", evalError("Unknown unit: '" + to + "'")}
	}
	if fromCat != toCat {
		return conversion{0, fromCat, evalError("Incompatible categories: '" + fromCat + "' vs '" + toCat + "'")}
	}
	return conversion{value * fromFactor / toFactor, fromCat, nil}
}

// unitName is strip and lower. Go lowers the dotted capital I to a plain i,
// which would turn it into part of a known unit.
func unitName(s string) string {
	return strings.ToLower(strings.ReplaceAll(pyStrip(s), "\u0130", "i\u0307"))
}

// Kinds of temperature units.
const (
	notTemperature = iota
	celsius
	fahrenheit
	kelvin
)

func temperature(name string) int {
	switch name {
	case "c", "celsius", "°c":
		return celsius
	case "f", "fahrenheit", "°f":
		return fahrenheit
	case "k", "kelvin":
		return kelvin
	}
	return notTemperature
}

func isTemperature(name string) bool { return temperature(name) != notTemperature }

// convertTemperature goes by way of Celsius. A full stop after an
// abbreviation is fine, as long as the other unit is written without.
func convertTemperature(v float64, from, to string) (float64, error) {
	var c float64
	switch temperature(strings.TrimRight(from, ".")) {
	case celsius:
		c = v
	case fahrenheit:
		c = (v - 32) * 5 / 9
	case kelvin:
		c = v - 273.15
	default:
		return 0, evalError("Unknown temperature unit: '" + from + "'")
	}
	switch temperature(strings.TrimRight(to, ".")) {
	case celsius:
		return c, nil
	case fahrenheit:
		return c*9/5 + 32, nil
	case kelvin:
		return c + 273.15, nil
	}
	return 0, evalError("Unknown temperature unit: '" + to + "'")
}

// unit gives the category of a unit and its size in the category's base
// unit: metre, kilogram, litre, second, metre per second, square metre, bit.
func unit(name string) (category string, factor float64, ok bool) {
	for _, c := range [...]struct {
		category string
		factor   func(string) float64
	}{
		{"length", lengthUnit}, {"mass", massUnit}, {"volume", volumeUnit}, {"time", timeUnit},
		{"speed", speedUnit}, {"area", areaUnit}, {"data", dataUnit},
	} {
		if f := c.factor(name); f != 0 {
			return c.category, f, true
		}
	}
	return "", 0, false
}

func lengthUnit(name string) float64 {
	switch name {
	case "mm":
		return 0.001
	case "cm":
		return 0.01
	case "m":
		return 1
	case "km":
		return 1000
	case "in", "inch":
		return 0.0254
	case "ft", "foot", "feet":
		return 0.3048
	case "yd", "yard":
		return 0.9144
	case "mi", "mile", "miles":
		return 1609.344
	case "nmi":
		return 1852
	case "ly":
		return 9.4607e15
	}
	return 0
}

func massUnit(name string) float64 {
	switch name {
	case "mg":
		return 1e-6
	case "g":
		return 0.001
	case "kg":
		return 1
	case "t", "tonne":
		return 1000
	case "oz":
		return 0.028349523125
	case "lb", "lbs", "pound", "pounds":
		return 0.45359237
	case "stone":
		return 6.35029318
	case "ton":
		return 907.18474
	}
	return 0
}

func volumeUnit(name string) float64 {
	switch name {
	case "ml", "cm3":
		return 0.001
	case "l", "litre", "liter":
		return 1
	case "cl":
		return 0.01
	case "dl":
		return 0.1
	case "m3":
		return 1000
	case "mm3":
		return 1e-6
	case "tsp":
		return 0.00492892
	case "tbsp":
		return 0.01478676
	case "floz":
		return 0.0295735
	case "cup":
		return 0.236588
	case "pt", "pint":
		return 0.473176
	case "qt", "quart":
		return 0.946353
	case "gal", "gallon":
		return 3.785411784
	}
	return 0
}

func timeUnit(name string) float64 {
	switch name {
	case "ns":
		return 1e-9
	case "us":
		return 1e-6
	case "ms":
		return 0.001
	case "s", "sec", "second", "seconds":
		return 1
	case "min", "minute", "minutes":
		return 60
	case "h", "hr", "hour", "hours":
		return 3600
	case "d", "day", "days":
		return 86400
	case "week", "weeks":
		return 604800
	case "year", "years":
		return 31557600
	}
	return 0
}

func speedUnit(name string) float64 {
	// A constant expression would be exact and round differently.
	perHour := 3.6
	switch name {
	case "m/s", "mps":
		return 1
	case "km/h", "kph":
		return 1 / perHour
	case "mph":
		return 0.44704
	case "knot", "knots":
		return 0.514444
	case "ft/s":
		return 0.3048
	}
	return 0
}

func areaUnit(name string) float64 {
	switch name {
	case "mm2":
		return 1e-6
	case "cm2":
		return 1e-4
	case "m2":
		return 1
	case "km2":
		return 1e6
	case "ha", "hectare":
		return 1e4
	case "acre":
		return 4046.8564224
	case "ft2", "sqft":
		return 0.09290304
	case "yd2":
		return 0.83612736
	case "mi2":
		return 2589988.110336
	}
	return 0
}

func dataUnit(name string) float64 {
	switch name {
	case "bit":
		return 1
	case "byte", "b":
		return 8
	case "kb":
		return 8e3
	case "kib":
		return 8 << 10
	case "mb":
		return 8e6
	case "mib":
		return 8 << 20
	case "gb":
		return 8e9
	case "gib":
		return 8 << 30
	case "tb":
		return 8e12
	case "tib":
		return 8 << 40
	case "pb":
		return 8e15
	}
	return 0
}
