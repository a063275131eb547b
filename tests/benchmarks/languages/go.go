// Measures the generated client: CALLS SERVER..., prints {"per_second": …, "p50_seconds": …}.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"measured/tools"
)

func main() {
	ctx := context.Background()
	calls, err := strconv.Atoi(os.Args[1])
	must(err)
	t, err := tools.Connect(ctx, &tools.Options{InheritEnv: true}, os.Args[2:]...)
	must(err)
	defer t.Close()
	add := func(number int) {
		sum, err := t.Add(ctx, tools.AddArguments{A: int64(number), B: 3})
		must(err)
		if sum != int64(number)+3 {
			panic(sum)
		}
	}
	var took time.Duration
	for range 2 {
		begun := time.Now()
		var group sync.WaitGroup
		group.Add(calls)
		for number := range calls {
			go func() { defer group.Done(); add(number) }()
		}
		group.Wait()
		took = time.Since(begun)
	}
	var times []float64
	for number := range max(calls/10, 1) {
		begun := time.Now()
		add(number)
		times = append(times, time.Since(begun).Seconds())
	}
	slices.Sort(times)
	fmt.Printf(`{"per_second": %g, "p50_seconds": %g}`+"\n", float64(calls)/took.Seconds(), times[len(times)/2])
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
