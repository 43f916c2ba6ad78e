package tomltext

// Kind is what a value is.
type Kind byte

const (
	Text Kind = iota
	Bool
	Number
	Date
	List
	Table
)

// Value is a value, and the line it begins on.
type Value struct {
	Kind   Kind
	Text   string // of a text its content, of other scalars how it is written
	List   []*Value
	Fields []Field // in the order of the text
	Line   int

	named map[string]*Value // the fields
}

// Field is one key of a table with its value.
type Field struct {
	Name  string
	Value *Value
}

// Tree puts the statements of a file together to the one table that they make.
func Tree(statements []Statement) *Value {
	root := &Value{Kind: Table}
	here := root
	for _, s := range statements {
		if !s.Header() {
			here.put(s.Key, s.Value)
			continue
		}
		here = root
		for _, name := range s.Table[:len(s.Table)-1] {
			here = here.table(name, s.Line)
		}
		name := s.Table[len(s.Table)-1]
		if s.Array {
			list := here.named[name]
			if list == nil {
				list = &Value{Kind: List, Line: s.Line}
				here.add(name, list)
			}
			list.List = append(list.List, &Value{Kind: Table, Line: s.Line})
		}
		here = here.table(name, s.Line)
		here.Line = s.Line
	}
	return root
}

// table gives the table of that name, of a list of tables the last one. It makes
// one where there is none.
func (v *Value) table(name string, line int) *Value {
	sub := v.named[name]
	if sub == nil {
		sub = &Value{Kind: Table, Line: line}
		v.add(name, sub)
	}
	if len(sub.List) > 0 {
		return sub.List[len(sub.List)-1]
	}
	return sub
}

// put sets a value under a dotted key.
func (v *Value) put(key []string, to *Value) {
	for _, name := range key[:len(key)-1] {
		v = v.table(name, to.Line)
	}
	v.add(key[len(key)-1], to)
}

func (v *Value) add(name string, to *Value) {
	if v.named == nil {
		v.named = map[string]*Value{}
	}
	v.named[name] = to
	v.Fields = append(v.Fields, Field{Name: name, Value: to})
}
