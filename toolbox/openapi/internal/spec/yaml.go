package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// fromYAML turns what a decoder of YAML gives into a tree. The order of members is
// lost there, so they are sorted.
func fromYAML(v any) (any, error) {
	c := converter{}
	return c.value(v, 0)
}

type converter struct{ values int }

func (c *converter) value(v any, depth int) (any, error) {
	if c.values++; c.values > maxValues {
		return nil, errValues
	}
	if depth > maxDepth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return v, nil
	case bool:
		return v, nil
	case int:
		return json.Number(strconv.Itoa(v)), nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), nil
	case time.Time: // a date that its author meant as a text
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly), nil
		}
		return v.Format(time.RFC3339Nano), nil
	case []byte:
		return string(v), nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			child, err := c.value(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = child
		}
		return out, nil
	case map[string]any:
		o := &Object{Members: make([]Member, 0, len(v))}
		for key, e := range v {
			if err := c.member(o, key, e, depth); err != nil {
				return nil, err
			}
		}
		return sorted(o), nil
	case map[any]any: // the status codes of responses are numbers
		o := &Object{Members: make([]Member, 0, len(v))}
		for key, e := range v {
			if err := c.member(o, fmt.Sprint(key), e, depth); err != nil {
				return nil, err
			}
		}
		return sorted(o), nil
	}
	return nil, errors.New("it has a value of a kind that JSON does not have")
}

func (c *converter) member(o *Object, key string, v any, depth int) error {
	child, err := c.value(v, depth+1)
	o.Members = append(o.Members, Member{key, child})
	return err
}

func sorted(o *Object) *Object {
	slices.SortFunc(o.Members, func(a, b Member) int {
		if a.Key < b.Key {
			return -1
		}
		if a.Key > b.Key {
			return 1
		}
		return 0
	})
	return o
}
