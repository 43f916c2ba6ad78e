package clientfiles

import "github.com/toolcrib/toolcrib/internal/tomltext"

func parseTOML(src []byte) (value, []tomltext.Statement, error) {
	if err := checkText(src); err != nil {
		return value{}, nil, err
	}
	statements, err := tomltext.Parse(src)
	if err != nil {
		return value{}, nil, err
	}
	return fromTOML(tomltext.Tree(statements)), statements, nil
}

func fromTOML(in *tomltext.Value) value {
	v := value{text: in.Text, line: in.Line}
	switch in.Kind {
	case tomltext.Text:
		v.kind = kindText
	case tomltext.Bool:
		v.kind = kindBool
	case tomltext.Number:
		v.kind = kindNumber
	case tomltext.Date:
		v.kind = kindDate
	case tomltext.List:
		v.kind = kindList
		for _, e := range in.List {
			v.list = append(v.list, fromTOML(e))
		}
	case tomltext.Table:
		v.kind = kindTable
		for _, f := range in.Fields {
			v.fields = append(v.fields, field{name: f.Name, line: f.Value.Line, comma: -1, value: fromTOML(f.Value)})
		}
	}
	return v
}
