package condition

import (
	"encoding/json"
	"strconv"
)

// Numbers gives a decoded JSON value the numbers that conditions know, each
// [json.Number] in it replaced. Whole numbers stay whole: as a float two of them
// could compare equal that are not.
func Numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return string(v)
		}
		return f
	case []any:
		for i := range v {
			v[i] = Numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = Numbers(v[k])
		}
	}
	return v
}
