package spec

import (
	"mime"
	"slices"
	"strings"
)

// answers reads what a success looks like.
func (d *Document) answers(o *Operation, file *file, root, def *Object) {
	at, ok := d.success(located{file, def.object("responses")})
	if !ok {
		o.Accept = "application/json, */*;q=0.5"
		return
	}
	resp := at.value.(*Object)
	var types []string
	if d.legacy {
		produces := def.list("produces")
		if produces == nil {
			produces = root.list("produces")
		}
		for _, v := range produces[:min(len(produces), maxList)] {
			types = append(types, textOf(v))
		}
		if s, ok := resp.Get("schema"); ok {
			if so, _ := s.(*Object); so.text("type") == "file" {
				o.Binary = true
			} else {
				o.success = located{at.file, s}
			}
		}
		if len(types) > 0 && !slices.ContainsFunc(types, isJSON) {
			o.success = located{}
		}
	} else {
		for i, m := range resp.object("content").members() {
			if i == maxList {
				break
			}
			types = append(types, m.Key)
			media, _ := m.Value.(*Object)
			if s, ok := media.Get("schema"); ok && isJSON(m.Key) && o.success.file == nil {
				o.success = located{at.file, s}
			}
		}
	}
	o.Accept = accept(types)
	o.Binary = o.Binary || len(types) > 0 && !slices.ContainsFunc(types, readable)
}

// success is the answer of the first 2xx status, or the only one that there is.
func (d *Document) success(responses located) (located, bool) {
	all, _ := responses.value.(*Object)
	best := ""
	var value any
	d.work += all.Len()
	for _, m := range all.members() {
		if strings.HasPrefix(m.Key, "2") && (best == "" || m.Key < best) {
			best, value = m.Key, m.Value
		}
	}
	if best == "" {
		if all.Len() != 1 || all.Members[0].Key != "default" {
			return located{}, false
		}
		value = all.Members[0].Value
	}
	at, err := d.follow(located{responses.file, value})
	_, ok := at.value.(*Object)
	return at, err == nil && ok
}

func isJSON(media string) bool { return preference(media) <= 3 }

// readable reports whether an answer of a media type is JSON or text.
func readable(media string) bool {
	kind, _, err := mime.ParseMediaType(media)
	if err != nil {
		return false
	}
	p := preference(media)
	return p <= 4 || p == 7 || p == 8 || isTextual(kind)
}

// accept is the header that asks for one of these, JSON first.
func accept(types []string) string {
	var out []string
	for pass := range 2 {
		for _, t := range types {
			t = strings.TrimSpace(t)
			if _, _, err := mime.ParseMediaType(t); err == nil && isJSON(t) == (pass == 0) && !slices.Contains(out, t) && len(out) < 8 && !strings.ContainsAny(t, "\r\n,") && t != "*/*" {
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return "application/json, */*;q=0.5"
	}
	return strings.Join(append(out, "*/*;q=0.1"), ", ")
}

// output writes the schema of the result: of the answer if that is an object, else of
// an object with the answer as result. It only says what there may be: an API that
// leaves things out or adds some is no surprise.
func (d *Document) output(o *Operation) {
	at := o.success
	o.success = located{}
	if at.file == nil {
		return
	}
	b := d.newBuilder(o.Where(), true)
	var root *Object
	if d.isObject(at, 0) {
		target, err := d.follow(at)
		t, ok := target.value.(*Object)
		if err != nil || !ok {
			return
		}
		root = b.inline(target, t, 0)
		root = root.without("additionalProperties")
		root.Set("type", "object")
	} else {
		root = obj("type", "object", "properties", obj("result", b.schema(at, 0)))
	}
	out := d.written(b.finish(root))
	if len(out) <= maxOutput {
		o.Output = out
	}
}

const maxOutput = 24 << 10

// isObject reports whether an answer of this schema is an object for sure.
func (d *Document) isObject(at located, depth int) bool {
	at, err := d.follow(at)
	o, ok := at.value.(*Object)
	if d.work++; err != nil || !ok || depth > 8 || d.work > maxWork {
		return false
	}
	switch t, there := o.Get("type"); {
	case t == "object":
		return true
	case there:
		return false
	}
	if o.object("properties").Len() > 0 {
		return true
	}
	all := o.list("allOf")
	for _, part := range all[:min(len(all), maxList)] {
		if d.isObject(located{at.file, part}, depth+1) {
			return true
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		parts := o.list(key)
		if len(parts) > 0 && len(parts) <= maxList && !slices.ContainsFunc(parts, func(p any) bool { return !d.isObject(located{at.file, p}, depth+1) }) {
			return true
		}
	}
	return false
}
