package shellguard

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// repeat reads the body of a loop until another turn changes nothing.
func (r *plainReader) repeat(st *plainState, body func(st *plainState) possible) possible {
	var out possible
	r.left = append(r.left, nil)
	defer func() { r.left = r.left[:len(r.left)-1] }()
	for turn := range 5 {
		in := st.fork()
		out = out.or(body(in))
		if left := r.left[len(r.left)-1]; left != nil {
			in.meet(left, r)
		}
		before := st.fork()
		if st.meet(in, r); st.same(before) || r.why != "" {
			return out.several()
		}
		if turn == 3 { // what still changes may be anything
			for name, v := range st.vars {
				if w, ok := before.vars[name]; !ok || !slices.Equal(v, w) {
					st.vars[name] = unknownText()
				}
			}
		}
	}
	r.refuse("nobody knows what its loop comes to")
	return out
}

func (r *plainReader) forClause(c *syntax.ForClause, st *plainState) possible {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || c.Braces || !iter.InPos.IsValid() || !ownVariable(iter.Name.Value) {
		r.refuse("its loop is not followed")
		return unknownText()
	}
	var over possible
	for _, item := range iter.Items {
		over = over.or(r.items(item, st))
	}
	if len(over) == 0 {
		return nil
	}
	return r.repeat(st, func(in *plainState) possible {
		in.vars[iter.Name.Value] = over
		out, _ := r.stmts(c.Do, in)
		return out
	})
}

func (r *plainReader) whileClause(c *syntax.WhileClause, st *plainState) possible {
	r.endless(c)
	return r.repeat(st, func(in *plainState) possible {
		out, _ := r.stmts(c.Cond, in)
		printed, _ := r.stmts(c.Do, in)
		return out.then(printed)
	})
}

// endless refuses a loop that nothing in its condition can end.
func (r *plainReader) endless(c *syntax.WhileClause) {
	if len(c.Cond) != 1 {
		r.refuse("its loop may not end")
		return
	}
	switch cmd := c.Cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) > 0 && isOneOf(cmd.Args[0].Lit(), "read [ test grep") {
			return
		}
	case *syntax.TestClause:
		return
	}
	r.refuse("its loop may not end")
}
