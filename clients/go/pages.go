package cloudanalytics

import (
	"context"
	"reflect"
)

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Iter gives the items of all pages, no id twice:
//
//	sessions := client.Sessions.Iter(ctx, nil)
//	for sessions.Next() {
//		fmt.Println(sessions.Value().ID)
//	}
//	if err := sessions.Err(); err != nil {
//
// Each page is one request, sent when its first item is asked for.
type Iter[T any] struct {
	load  func(page int64) (*Page[T], error)
	page  *Page[T]
	index int
	seen  map[string]bool
	value T
	err   error
	ended bool
}

func newIter[T any](ctx context.Context, c *core, r request) *Iter[T] {
	return &Iter[T]{seen: map[string]bool{}, load: func(page int64) (*Page[T], error) {
		given := r
		if page > 0 {
			query, err := queryOf(r.query)
			if err != nil {
				return nil, err
			}
			fields := map[string]any{"page": page}
			for name := range query {
				if name != "page" {
					fields[name] = query.Get(name)
				}
			}
			given.query = fields
		}
		return call[Page[T]](ctx, c, given)
	}}
}

// Next moves to the next item; false at the end, and after an error.
func (i *Iter[T]) Next() bool {
	for !i.ended {
		if i.page != nil && i.index < len(i.page.Data) {
			i.value = i.page.Data[i.index]
			i.index++
			if i.isRepeated() {
				continue
			}
			return true
		}
		next := int64(0)
		if i.page != nil {
			place := i.page.Pagination
			if len(i.page.Data) == 0 || place.Page*place.PerPage >= place.Total {
				break
			}
			next = place.Page + 1
		}
		i.index = 0
		if i.page, i.err = i.load(next); i.err != nil {
			break
		}
	}
	i.ended = true
	return false
}

// isRepeated says whether the value came before: what arrives meanwhile moves items to the next page.
func (i *Iter[T]) isRepeated() bool {
	item := reflect.ValueOf(i.value)
	if item.Kind() != reflect.Struct {
		return false
	}
	id := item.FieldByName("ID")
	if !id.IsValid() || id.Kind() != reflect.String {
		return false
	}
	if i.seen[id.String()] {
		return true
	}
	i.seen[id.String()] = true
	return false
}

// Value is the item that Next moved to.
func (i *Iter[T]) Value() T { return i.value }

// Err is what ended the iteration, nil at the end of the list.
func (i *Iter[T]) Err() error { return i.err }
