package toolwire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

var ctx = context.Background()

// The test's own program is the server, with the behaviour that this variable names.
const behaviour = "TOOLWIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	if name := os.Getenv(behaviour); name != "" {
		servers[name](bufio.NewScanner(os.Stdin))
		return
	}
	os.Exit(m.Run())
}

// servers are legacy ones; each answers what it is asked and differs in one thing.
var servers = map[string]func(*bufio.Scanner){
	"plain": func(in *bufio.Scanner) { serve(in, result(`{"content":[{"type":"text","text":"done"}]}`)) },
	"noisy": func(in *bufio.Scanner) {
		fmt.Print("starting\n{\"level\":\"info\"}\n\n[1,2]\n\"text\"\n")
		serve(in, func(id string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n")
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/other"}`+"\n"+`{"jsonrpc":"2.0","id":"%s.0","result":{}}`+"\n", id)
		})
	},
	"long": func(in *bufio.Scanner) { serve(in, result(`"`+strings.Repeat("x", 100_000)+`"`)) },
	"nan":  func(in *bufio.Scanner) { serve(in, result(`{"content":NaN}`)) },
	"deep": func(in *bufio.Scanner) { serve(in, result(strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000))) },
	"empty": func(in *bufio.Scanner) {
		serve(in, func(id string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s}`+"\n", id) })
	},
	"list":    func(in *bufio.Scanner) { serve(in, result(`[1]`)) },
	"unknown": func(in *bufio.Scanner) { serve(in, result(`{"resultType":"later"}`)) },
	"error":   func(in *bufio.Scanner) { serve(in, answer(`"error":{"code":"bad","data":[1]}`)) },
	"asking":  func(in *bufio.Scanner) { serve(in, result(`{"resultType":"input_required","requestState":"s"}`)) },
	"offering": func(in *bufio.Scanner) {
		serve(in, result(`{"resultType":"input_required","inputRequests":{"a":{"method":"x"}}}`))
	},
	"refusing": func(in *bufio.Scanner) {
		serve(in, func(id string) {
			fmt.Println(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{}}`)
			in.Scan()
			result(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, in.Text()))(id)
		})
	},
	"flooding": func(in *bufio.Scanner) { // pings without a look at the answers, then a result
		serve(in, func(id string) {
			for range 20_000 {
				fmt.Println(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
				fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n", id)
			}
			result(`{}`)(id)
		})
	},
	"withdrawing": func(in *bufio.Scanner) {
		serve(in, func(id string) {
			fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{}}}`)
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
			result(`{}`)(id)
		})
	},
	"stubborn": func(in *bufio.Scanner) { // and with a child that would survive it
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0])
		child.Env = []string{behaviour + "=child"}
		child.Start()
		serve(in, result(fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, child.Process.Pid)))
		select {}
	},
	"child": func(*bufio.Scanner) { signal.Ignore(syscall.SIGTERM); time.Sleep(time.Hour) },
	"deaf": func(in *bufio.Scanner) {
		answerTo(in, "initialize", `{"protocolVersion":"2025-06-18"}`)
		time.Sleep(time.Hour)
	},
	"tasks": func(in *bufio.Scanner) { // of MCP 2025-11-25, and asks while its result is waited for
		answerTo(in, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}}`)
		states := []string{"working", "working", "input_required"}
		for in.Scan() {
			line, id := in.Text(), idOf(in.Text())
			switch {
			case strings.Contains(line, `"tools/call"`) && !strings.Contains(line, `"task":{}`):
				answer(`"error":{"code":-32601,"message":"runs only as a task"}`)(id)
			case strings.Contains(line, `"tools/call"`):
				result(`{"task":{"taskId":"t","status":"working","pollInterval":1}}`)(id)
			case strings.Contains(line, `"tasks/get"`):
				result(fmt.Sprintf(`{"taskId":"t","status":%q,"statusMessage":"is %s","pollInterval":1}`, states[0], states[0]))(id)
				states = append(states[1:], states[len(states)-1])[:max(1, len(states)-1)]
			case strings.Contains(line, `"tasks/result"`):
				fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{}}}`)
				in.Scan()
				result(`{"content":[{"type":"text","text":"done"}]}`)(id)
			case strings.Contains(line, `"tasks/cancel"`):
				states = []string{"cancelled"}
				result(`{"taskId":"t","status":"cancelled"}`)(id)
			}
		}
	},
	"modern-tasks": func(in *bufio.Scanner) {
		answerTo(in, "server/discover", `{"supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`)
		states := []string{`"working"`, asking, asking, `"completed","result":{"content":[{"type":"text","text":"done"}]}`}
		for in.Scan() {
			line, id := in.Text(), idOf(in.Text())
			switch {
			case strings.Contains(line, `"tools/call"`) && strings.Contains(line, `"io.modelcontextprotocol/tasks":{}`):
				result(`{"resultType":"task","taskId":"t","status":"working","pollIntervalMs":1}`)(id)
			case strings.Contains(line, `"tasks/get"`):
				result(`{"resultType":"complete","taskId":"t","pollIntervalMs":1,"status":` + states[0] + `}`)(id)
				states = append(states[1:], states[len(states)-1])[:max(1, len(states)-1)]
			case strings.Contains(line, `"tasks/cancel"`):
				states = []string{`"cancelled"`}
				result(`{"resultType":"complete"}`)(id)
			case id != "": // not a notification
				result(`{"resultType":"complete"}`)(id)
			}
		}
	},
	"new": func(in *bufio.Scanner) { answerTo(in, "initialize", `{"protocolVersion":"2099-01-01"}`) },
	"afraid": func(in *bufio.Scanner) { // ends at the probe
		in.Scan()
		if !strings.Contains(in.Text(), "server/discover") {
			answer(`"result":{"protocolVersion":"2024-11-05"}`)(idOf(in.Text()))
			serve(in, result(`{}`))
		}
	},
	"confused": func(in *bufio.Scanner) { // cannot say which request it does not understand
		in.Scan()
		fmt.Println(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`)
		serve(in, result(`{}`))
	},
}

const asking = `"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{}}}}`

func serve(in *bufio.Scanner, call func(id string)) {
	answerTo(in, "initialize", `{"protocolVersion":"2025-06-18"}`)
	for in.Scan() {
		if strings.Contains(in.Text(), `"tools/call"`) {
			call(idOf(in.Text()))
		}
	}
}

func answerTo(in *bufio.Scanner, method, with string) {
	for in.Scan() {
		if strings.Contains(in.Text(), `"`+method+`"`) {
			result(with)(idOf(in.Text()))
			return
		}
		answer(`"error":{"code":-32601,"message":"no such method"}`)(idOf(in.Text()))
	}
}

func result(value string) func(string) { return answer(`"result":` + value) }

func answer(member string) func(string) {
	return func(id string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, member) }
}

func idOf(line string) string {
	var m struct{ ID json.RawMessage }
	json.Unmarshal([]byte(line), &m)
	return string(m.ID)
}

func start(t *testing.T, name string, options Options) (*Client, error) {
	options.Env = append(options.Env, behaviour+"="+name)
	c, err := Start(ctx, []string{os.Args[0]}, &options)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

func called(t *testing.T, name string, options Options, calls ...CallOption) (*Result, error) {
	t.Helper()
	c, err := start(t, name, options)
	if err != nil {
		t.Fatal(err)
	}
	return c.CallTool(ctx, "tool", nil, calls...)
}

func TestAServerThatBreaksTheRulesFailsTheCall(t *testing.T) {
	for name, problem := range map[string]string{
		"long": "more than 1000 bytes", "nan": "no JSON", "deep": "no JSON", "empty": "neither a result nor an error",
		"list": "that is none", "unknown": `unknown type "later"`, "asking": "still asks after 10 rounds",
		"offering": `asks for "x"`,
	} {
		options := Options{Era: "legacy"}
		if name == "long" {
			options.MaxMessageBytes = 1000
		}
		_, err := called(t, name, options)
		var rules *ProtocolError
		if !errors.As(err, &rules) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinesThatAreNoMessagesAndUnknownOnesAreIgnored(t *testing.T) {
	if _, err := called(t, "noisy", Options{}); err != nil {
		t.Error(err)
	}
}

func TestAnErrorThatIsHardToReadIsOneStill(t *testing.T) {
	_, err := called(t, "error", Options{})
	var failure *RequestError
	if !errors.As(err, &failure) || string(failure.Data) != "[1]" || failure.Message == "" {
		t.Error(err)
	}
}

func TestOtherRequestsOfAServerAreRefused(t *testing.T) {
	result, err := called(t, "refusing", Options{})
	if err != nil || !strings.Contains(result.Text(), "-32601") {
		t.Error(result, err)
	}
}

func TestAFloodFromAServerThatDoesNotReadBlocksNothing(t *testing.T) {
	seen := 0
	if _, err := called(t, "flooding", Options{}, OnProgress(func(Progress) { seen++ })); err != nil || seen == 0 {
		t.Error(seen, err)
	}
}

func TestAWithdrawnQuestionEndsItsContext(t *testing.T) {
	ended := make(chan error, 1)
	ask := func(ctx context.Context, _ Question) (Answer, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return Decline, nil
	}
	if _, err := called(t, "withdrawing", Options{Ask: ask}); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCloseEndsAStubbornServerAndItsChildren(t *testing.T) {
	c, err := start(t, "stubborn", Options{Grace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	child, err := c.CallTool(ctx, "tool", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for { // killed, and then reaped by whoever adopts it
		status, err := os.ReadFile("/proc/" + child.Text() + "/stat")
		if err != nil || strings.Contains(string(status), ") Z ") {
			break
		}
	}
}

func TestACallEndsWithItsContextAlthoughTheServerReadsNothing(t *testing.T) {
	c, err := start(t, "deaf", Options{Grace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	arguments := map[string]string{"text": strings.Repeat("x", 1<<20)}
	ended := make(chan error)
	for range 200 {
		go func() { _, err := c.CallTool(late, "tool", arguments); ended <- err }()
	}
	for range 200 {
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
}

func TestArgumentsThatAreNoJSONFailTheirCallAlone(t *testing.T) {
	c, err := start(t, "plain", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CallTool(ctx, "tool", make(chan int)); err == nil {
		t.Error("a channel was sent")
	}
	if result, err := c.CallTool(ctx, "tool", nil); err != nil || result.Text() != "done" {
		t.Error(result, err)
	}
}

func TestHandshakes(t *testing.T) {
	for name, revision := range map[string]string{"afraid": "2024-11-05", "confused": "2025-06-18", "plain": "2025-06-18"} {
		if c, err := start(t, name, Options{}); err != nil || c.Revision != revision {
			t.Error(name, err)
		}
	}
	var rules *ProtocolError
	if _, err := start(t, "new", Options{}); !errors.As(err, &rules) {
		t.Error(err)
	}
	if _, err := start(t, "deaf", Options{Era: "modern"}); err == nil {
		t.Error("a legacy server was taken for a modern one")
	}
	if _, err := Start(ctx, nil, nil); err == nil {
		t.Error("an empty command was started")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Start(gone, []string{os.Args[0]}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestACallThatBecomesATaskIsWaitedFor(t *testing.T) {
	for _, name := range []string{"tasks", "modern-tasks"} {
		asked := 0
		options := Options{Ask: func(context.Context, Question) (Answer, error) {
			asked++
			return Accept(map[string]any{}), nil
		}}
		if result, err := called(t, name, options); err != nil || result.Text() != "done" || asked != 1 {
			t.Error(name, result, err, asked)
		}
	}
}

func TestATaskIsAHandleThatIsCancelled(t *testing.T) {
	for _, name := range []string{"tasks", "modern-tasks"} {
		c, err := start(t, name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		task, err := c.StartTask(ctx, "tool", nil)
		if err != nil || task.ID != "t" {
			t.Fatal(name, task, err)
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		if _, err := task.Result(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(name, err)
		}
		cancel()
		if err := task.Cancel(ctx); err != nil {
			t.Error(name, err)
		}
		if status, err := c.Task("t", "tool").Status(ctx); err != nil || status.State != "cancelled" {
			t.Error(name, status, err)
		}
		var cancelled *RequestError
		if _, err := task.Result(ctx); !errors.As(err, &cancelled) || cancelled.Code != -32800 {
			t.Error(name, err)
		}
		var rules *ProtocolError
		if _, err := c.Task("other", "tool").Status(ctx); !errors.As(err, &rules) {
			t.Error(name, err)
		}
	}
}

func TestAServerWithoutTasksIsNotAskedForOne(t *testing.T) {
	c, err := start(t, "plain", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StartTask(ctx, "tool", nil); !errors.Is(err, ErrNoTasks) {
		t.Error(err)
	}
}

type colour string

func (c colour) IsKnown() bool { return c == "red" }

type known struct {
	Kind  colour           `json:"kind"`
	Names List[string]     `json:"names,omitzero"`
	Note  Nullable[string] `json:"note,omitzero"`
	More  Map[int]         `json:"-"`
}

func (v known) MarshalJSON() ([]byte, error) {
	type plain known
	return EncodeOpen(plain(v), v.More)
}

func (v *known) UnmarshalJSON(data []byte) error {
	type plain known
	return DecodeOpen(data, (*plain)(v), &v.More)
}

func TestValuesKeepWhatIsAbsentEmptyAndNullApart(t *testing.T) {
	for _, text := range []string{
		`{"kind":"red"}`, `{"kind":"red","names":[]}`, `{"kind":"red","names":["a"],"note":null}`,
		`{"kind":"red","note":"x"}`, `{"a":1,"b":2,"kind":"red"}`, `{"":1,"kind":"red"}`,
	} {
		var value known
		err := decode([]byte(text), &value)
		again, encodeErr := json.Marshal(value)
		if err != nil || encodeErr != nil || string(again) != text {
			t.Error(text, string(again), err, encodeErr)
		}
	}
	empty, err := json.Marshal([]any{List[int](nil), Map[int](nil), Union{}})
	if err != nil || string(empty) != "[[],{},null]" {
		t.Error(string(empty), err)
	}
}

func TestAUnionIsOfTheTypesThatItFits(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"red","other":1}`: "known", `{"kind":"blue"}`: "", `{}`: "", `"a"`: "string", `1`: "int", `1.5`: "", `null`: "",
	} {
		var union Union
		if err := json.Unmarshal([]byte(text), &union); err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, is := As[known](union); is {
			got += "known"
		}
		if _, is := As[string](union); is {
			got += "string"
		}
		if _, is := As[int](union); is {
			got += "int"
		}
		if got != want {
			t.Error(text, got)
		}
	}
}

func TestBytesAreTextInBase64(t *testing.T) {
	type message struct {
		Data Bytes `json:"data"`
	}
	for text, data := range map[string][]byte{`{"data":"AAEC"}`: {0, 1, 2}, `{"data":""}`: nil} {
		written, err := json.Marshal(message{Data: data})
		if err != nil || string(written) != text {
			t.Errorf("%v is written as %s, %v", data, written, err)
		}
		var read message
		if err := json.Unmarshal([]byte(text), &read); err != nil || !bytes.Equal(read.Data, data) {
			t.Errorf("%s is read as %v, %v", text, read.Data, err)
		}
	}
}

func TestTimesMayLackAnOffset(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 500_000_000, time.UTC)
	for _, text := range []string{
		"2026-03-01T12:00:00.5Z", "2026-03-01t12:00:00.500z", "2026-03-01T14:00:00.5+02:00", "2026-03-01T12:00:00.5",
		"2026-03-01 12:00:00.5",
	} {
		var read Time
		if err := json.Unmarshal([]byte(`"`+text+`"`), &read); err != nil || !read.Equal(noon) {
			t.Errorf("%s is read as %v, %v", text, read, err)
		}
	}
	written, err := json.Marshal(Time{noon})
	if err != nil || string(written) != `"2026-03-01T12:00:00.5Z"` {
		t.Errorf("written as %s, %v", written, err)
	}
	for _, text := range []string{`"soon"`, `1`} {
		if json.Unmarshal([]byte(text), &Time{}) == nil {
			t.Errorf("%s is read", text)
		}
	}
}
