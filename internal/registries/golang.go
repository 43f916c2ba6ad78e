package registries

import "strings"

// golang reads what go env would say: variables, then the person's file. Modules that
// go fetches without a proxy (direct, GOPRIVATE) come from hosts that nobody knows
// beforehand, and have to be granted by name.
func (r *reading) golang() {
	path := r.variable("GOENV")
	if path == "" {
		path = r.configDir("go", "env")
	}
	set := map[string]string{}
	if path != "off" {
		for _, line := range lines(r.file(path)) {
			if key, value, ok := strings.Cut(line, "="); ok {
				set[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
	}
	value := func(name string) string {
		if v := r.variable(name); v != "" {
			return v
		}
		return set[name]
	}
	r.goProxies(value("GOPROXY"))
	sums := value("GOSUMDB")
	switch name, address, _ := strings.Cut(sums, " "); {
	case sums == "":
		r.wellKnown("sum.golang.org")
	case sums == "off":
		r.env["GOSUMDB"] = sums
	case strings.TrimSpace(address) != "":
		if plain := r.configured(address); plain != "" {
			r.env["GOSUMDB"] = name + " " + plain
		}
	default:
		host, _, _ := strings.Cut(name, "+") // a key may follow
		if r.configured("https://"+host) != "" {
			r.env["GOSUMDB"] = sums
		}
	}
	for _, name := range []string{"GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOINSECURE"} {
		if v := value(name); v != "" {
			r.env[name] = v
		}
	}
}

// goProxies takes the list of proxies apart. Its marks tell when the next is asked.
func (r *reading) goProxies(list string) {
	if list == "" {
		r.wellKnown("proxy.golang.org")
		r.env["GOPROXY"] = "https://proxy.golang.org" // without direct: other hosts are refused, and that would be told instead
		return
	}
	var out strings.Builder
	for list != "" {
		one, mark := list, ""
		if i := strings.IndexAny(list, ",|"); i >= 0 {
			one, mark = list[:i], list[i:i+1]
		}
		list = list[len(one)+len(mark):]
		if one = strings.TrimSpace(one); one != "off" && one != "direct" && one != "" {
			one = r.configured(one)
		}
		if one != "" {
			out.WriteString(one + mark)
		}
	}
	if text := strings.TrimRight(out.String(), ",|"); text != "" {
		r.env["GOPROXY"] = text
	}
}
