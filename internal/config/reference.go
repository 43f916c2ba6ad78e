package config

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Reference writes a Markdown page about all settings: one section for each block, one row for each setting. It refuses
// a setting without a description and a default that a user could not write.
func Reference[T any](defaults T) ([]byte, error) {
	value := reflect.ValueOf(&defaults).Elem()
	root, err := documented(value)
	if err != nil {
		return nil, err
	}
	var r referenceWriter
	r.section(section{title: "Top level", members: root.fields, value: value})
	return slices.Concat([]byte(preface), r.contents(), r.out.Bytes()), nil
}

const preface = `# Configuration reference

Every setting, what it means and its default. To change settings and to look at them:

` + "```sh" + `
toolcrib config init                   # write a first file, with comments
toolcrib config set mode auto-edit     # set one key
toolcrib config show --changed         # what is not a default, and where it is set
toolcrib config check                  # every mistake, with file and line
` + "```" + `

**Where a value comes from.** Each of these counts more than the one before it: the defaults, the system's file (` + "`/etc/toolcrib/config.yaml`" + `), your own file
(` + "`~/.config/toolcrib/config.yaml`" + ` on Linux), environment variables, and ` + "`--set key=value`" + ` for one run. Blocks and maps are merged key by key. A list replaces the list before it,
except those under ` + "`permissions`" + ` and ` + "`tools.disable`" + `, which are joined.

**A project's ` + "`toolcrib.yaml`" + `** can only make things stricter. Where it may change a setting, the description says so; anything else in it is ignored, with a
warning. In a map, it may change only entries that are there without it.

**Variables.** The variable of a key is its name in capitals, with ` + "`_`" + ` for each dot, behind ` + "`TOOLCRIB_`" + `: ` + "`limits.timeout`" + ` is ` + "`TOOLCRIB_LIMITS_TIMEOUT`" + `. What holds blocks or lists
of lists has no variable, and neither has a key with a ` + "`NAME`" + ` of yours in it.

**Values.** Durations are written like ` + "`30s`, `1h30m` or `90d`" + `; sizes like ` + "`4096`, `16MiB` (units of 1024) or `1GB`" + ` (units of 1000).

**Lists and maps in one text.** Flags, variables and ` + "`toolcrib config set`" + ` read them in the same way:

| To set | Write | Example |
|---|---|---|
| a list | ` + "`a,b`" + ` or a YAML or JSON list | ` + "`--set tools.disable=delete_file,write_file`, `--set 'tools.disable=[delete_file, write_file]'`" + ` |
| an entry with a comma, bracket or quote in it | a list in brackets, with that entry in quotes | ` + "`--set 'grant.protected=[\"*.{db,sqlite}\", \"[ab].txt\"]'`" + ` |
| an empty list | ` + "`[]`" + ` or nothing | ` + "`--set grant.hosts=[]`" + ` |
| a map | ` + "`name=value,other=value`" + ` or a YAML or JSON map | ` + "`--set 'tools.alias={ls: list_files}'`" + ` |
| a list or a map of blocks | YAML or JSON on one line | ` + "`toolcrib config set mcp_servers.docs '{url: https://docs.example/mcp}'`" + ` |

A text that begins with a bracket is YAML and means what it means in a file, so a pattern such as ` + "`*.pem`" + ` needs quotes inside the brackets. A text that cannot be read as the setting's type,
or that could mean two things, is an error that names the form to write. Toolcrib then does not start. So are blanks, ` + "`;` and `:`" + ` in place of the commas between names of tools (` + "`tools.disable`" + `), skills and toolboxes, and between
two names of files (` + "`grant.protected='.a .b'`" + `), where ` + "`|`, `&`, `$`, `(`, `)`" + `, a backquote and a backslash are errors as well: no shell reads the setting. If you mean one entry, put it in quotes in brackets: ` + "`['.a .b']`" + `.
`

// referenceWriter writes the page.
type referenceWriter struct {
	out    bytes.Buffer
	titles []string
}

// contents lists the sections of the first level.
func (r *referenceWriter) contents() []byte {
	var links []string
	for _, title := range r.titles {
		name := strings.Trim(title, "`")
		if strings.Contains(strings.TrimSuffix(strings.TrimSuffix(name, ".NAME"), "[]"), ".") {
			continue
		}
		anchor := strings.NewReplacer(" ", "-", ".", "", "[", "", "]", "").Replace(strings.ToLower(name))
		links = append(links, "["+title+"](#"+anchor+")")
	}
	return []byte("\n**Sections:** " + strings.Join(links, " · ") + "\n")
}

// section is one block of settings.
type section struct {
	title   string
	doc     string
	note    string // what kind of block it is, where that matters
	members []*field
	value   reflect.Value // the defaults; invalid where a block has none
	inList  bool          // a project file deals with the list as a whole, not with settings in its elements
}

// section writes the settings of one block as a table and then the blocks inside it as sections of their own.
func (r *referenceWriter) section(s section) {
	var rows, inner []*field
	for _, member := range s.members {
		if member.below() != nil {
			inner = append(inner, member)
		}
		if member.kind != kindBlock && member.kind != kindOptional {
			rows = append(rows, member)
		}
	}
	// A block that only holds other blocks is a heading worth having when it has something to say.
	if len(rows) > 0 || s.doc != "" {
		r.titles = append(r.titles, s.title)
		fmt.Fprintf(&r.out, "\n## %s\n", s.title)
		if s.doc != "" {
			fmt.Fprintf(&r.out, "\n%s%s\n", s.doc, s.note)
		}
	}
	if len(rows) > 0 {
		r.out.WriteString("\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n")
		for _, f := range rows {
			r.row(f, s)
		}
	}
	for _, f := range inner {
		r.inner(f, s)
	}
}

// inner writes the section of a block, or of the blocks in a list or a map.
func (r *referenceWriter) inner(f *field, outer section) {
	block := outer.value
	s := section{title: "`" + f.key + "`", doc: f.doc, members: f.below().fields, inList: outer.inList}
	switch f.kind {
	case kindBlock:
		if block.IsValid() {
			s.value = block.Field(f.index)
		}
	case kindOptional:
		s.note = " This block is optional; it is absent until a layer writes it."
		if block.IsValid() && !block.Field(f.index).IsNil() {
			s.value = block.Field(f.index).Elem()
			s.note = " This block is optional; it is there by default."
		}
	default:
		s.title = "`" + f.elem.key + "`"
		s.doc = "One entry of `" + f.key + "`."
		s.inList = s.inList || f.kind == kindList
	}
	r.section(s)
}

// below gives the block inside a field, nil if it holds none.
func (f *field) below() *field {
	if f.kind == kindBlock || f.kind == kindOptional {
		return f
	}
	if f.elem != nil {
		return f.elem.below()
	}
	return nil
}

func (r *referenceWriter) row(f *field, s section) {
	standard, kind, doc := "", f.typeName(), choices(cell(strings.NewReplacer("*", `\*`, "<", `\<`).Replace(f.doc)), f.enum)
	if s.value.IsValid() {
		standard = code(brief(f, s.value.Field(f.index)))
	}
	if f.secret {
		kind += ", never shown"
	}
	if f.own {
		doc += " Only a file sets it: no variable and no flag does."
	}
	if may := f.rule.allowed(); may != "" && !s.inList {
		doc += " *A project's file may " + may + ".*"
	}
	fmt.Fprintf(&r.out, "| %s | %s | %s | %s |\n", code(f.key), cell(kind), standard, doc)
}

// choices begins a line with each value that a description explains, as in "off: none. all: every call."
func choices(doc string, enum []string) string {
	for _, value := range enum {
		if value != "" {
			doc = strings.Replace(". "+doc, ". "+value+": ", ".<br>`"+value+"`: ", 1)
			doc = strings.TrimPrefix(strings.TrimPrefix(doc, ". "), ".<br>")
		}
	}
	return doc
}

// brief writes a default on one line.
func brief(f *field, v reflect.Value) string {
	switch f.kind {
	case kindList:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = brief(f.elem, v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case kindMap:
		var items []string
		for _, name := range entryNames(v) {
			entry, _ := entryOf(f, v, name)
			items = append(items, name+": "+brief(f.elem, entry))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case kindBlock, kindOptional:
		return "{…}"
	}
	switch {
	case f.secret && !v.IsZero():
		return Hidden
	case f.kind == kindText && v.String() == "":
		return `""`
	}
	return f.format(v)
}

// code puts a text into backquotes, more of them than the text itself has in a row.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return cell(fence + text + fence)
}

// cell keeps a text inside its cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\r", " ", "\n", " ").Replace(text)
}
