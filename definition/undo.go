package definition

// undo says how a value that a model gave becomes one of the real contract. Forms lie side by side as in the shape.
type undo struct {
	kinds   kinds         // scalars that stand for themselves
	listed  kinds         // of which these are enumerated
	only    []*tree       // so
	text    kinds         // a string is JSON text of one of these
	null    bool          // the mark stands for null
	objects []*objectUndo // the forms of an object
	arrays  []*undo       // by form of an array, its items
	rename  map[string]string
}

type objectUndo struct {
	fields map[string]field // by the shown name
	must   []string         // shown names that an object of this form has
	more   string           // the shown name of what holds further entries; empty: there is none
}

type field struct {
	name string // the real one
	drop bool   // null: left out
	back *undo
}

// add takes over the forms of another.
func (u *undo) add(v *undo) {
	open := (u.kinds &^ u.listed) | (v.kinds &^ v.listed)
	u.listed = (u.listed | v.listed) &^ open
	u.only = append(u.only, v.only...)
	u.kinds |= v.kinds
	u.text |= v.text
	u.null = u.null || v.null
	u.objects = append(u.objects, v.objects...)
	u.arrays = append(u.arrays, v.arrays...)
}

// renames gives the undo of a definition that differs from the contract in names of properties only, nil if not even in
// those. The names are hashed ones that no free data holds, so they are put right wherever they stand.
func (w *writer) renames() *undo {
	var back map[string]string
	for name, shown := range w.shown {
		if name != shown {
			if back == nil {
				back = map[string]string{}
			}
			back[shown] = name
		}
	}
	if back == nil {
		return nil
	}
	return &undo{rename: back}
}
