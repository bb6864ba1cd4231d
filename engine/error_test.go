package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"dogear/engine"
)

// TestCodesListsEveryCode that error.go declares, for the tests of those who
// must have an answer to each.
func TestCodesListsEveryCode(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []engine.Code
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				declared = append(declared, engine.Code(text))
			}
		}
		return true
	})

	if got := engine.Codes(); len(declared) == 0 || !slices.Equal(got, declared) {
		t.Errorf("Codes() = %q, want %q", got, declared)
	}
}
