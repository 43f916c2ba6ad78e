package math

import (
	"strconv"
	"strings"
)

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
	if strings.ContainsAny(name, " =") {
		return "", 0, false
	}
	for _, c := range [...]struct{ category, units string }{
		{"length", " mm=0.001 cm=0.01 m=1 km=1000 in=0.0254 inch=0.0254 ft=0.3048 foot=0.3048 feet=0.3048 yd=0.9144" +
			" yard=0.9144 mi=1609.344 mile=1609.344 miles=1609.344 nmi=1852 ly=9.4607e15 "},
		{"mass", " mg=1e-6 g=0.001 kg=1 t=1000 tonne=1000 oz=0.028349523125 lb=0.45359237 lbs=0.45359237 pound=0.45359237" +
			" pounds=0.45359237 stone=6.35029318 ton=907.18474 "},
		{"volume", " ml=0.001 cm3=0.001 l=1 litre=1 liter=1 cl=0.01 dl=0.1 m3=1000 mm3=1e-6 tsp=0.00492892 tbsp=0.01478676" +
			" floz=0.0295735 cup=0.236588 pt=0.473176 pint=0.473176 qt=0.946353 quart=0.946353 gal=3.785411784" +
			" gallon=3.785411784 "},
		{"time", " ns=1e-9 us=1e-6 ms=0.001 s=1 sec=1 second=1 seconds=1 min=60 minute=60 minutes=60 h=3600 hr=3600" +
			" hour=3600 hours=3600 d=86400 day=86400 days=86400 week=604800 weeks=604800 year=31557600 years=31557600 "},
		{"speed", " m/s=1 mps=1 km/h=0.2777777777777778 kph=0.2777777777777778 mph=0.44704 knot=0.514444 knots=0.514444" +
			" ft/s=0.3048 "},
		{"area", " mm2=1e-6 cm2=1e-4 m2=1 km2=1e6 ha=1e4 hectare=1e4 acre=4046.8564224 ft2=0.09290304 sqft=0.09290304" +
			" yd2=0.83612736 mi2=2589988.110336 "},
		{"data", " bit=1 byte=8 b=8 kb=8e3 kib=8192 mb=8e6 mib=8388608 gb=8e9 gib=8589934592 tb=8e12 tib=8796093022208" +
			" pb=8e15 "},
	} {
		if _, rest, found := strings.Cut(c.units, " "+name+"="); found {
			number, _, _ := strings.Cut(rest, " ")
			factor, err := strconv.ParseFloat(number, 64)
			return c.category, factor, err == nil
		}
	}
	return "", 0, false
}
