package simnet

import "time"

// happening is something the world will do at an instant of world time.
type happening struct {
	at  time.Duration
	seq uint64
	do  func()
}

// queue is a heap of happenings ordered by time, then by the order in which
// they were scheduled: two things at the same instant never depend on the shape
// of the heap.
type queue struct {
	heap []happening
	seq  uint64
}

func (q *queue) len() int { return len(q.heap) }

func (h happening) before(o happening) bool {
	return h.at < o.at || h.at == o.at && h.seq < o.seq
}

func (q *queue) push(at time.Duration, do func()) {
	q.seq++
	q.heap = append(q.heap, happening{at, q.seq, do})
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.heap[i].before(q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *queue) pop() happening {
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = happening{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if q.heap[c].before(q.heap[least]) {
				least = c
			}
		}
		if least == i {
			return top
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
