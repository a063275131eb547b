// Package toolwire calls the tools of an MCP server, which it starts as a child process. It needs Go 1.24 or later and
// nothing but the standard library.
//
// Strategy. A call waits in the goroutine of its caller, where its progress and its questions are reported too. One
// goroutine reads the server's output and never blocks: what no call takes in time is dropped. One writes the server's input from
// queues with a limit. One waits for the end of the process, and then kills what is left of its group. The context life
// ends with the conversation, and its cause is the error of all open calls.
package toolwire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

const (
	modernVersion = "2026-07-28"
	metaPrefix    = "io.modelcontextprotocol/"
	probeTime     = 10 * time.Second // for server/discover, which a legacy server may not answer
	lastWordsTime = time.Second      // for what a server wrote before it ended
	maxRounds     = 10               // of questions in one call, as in the official clients
	maxQuestions  = 100              // open at once
	maxIDBytes    = 1000             // of requests, since they are sent back
	keptBytes     = 16 * 1024        // of stderr and of output that is no message

	tasksExtension   = metaPrefix + "tasks"
	pollTime         = time.Second // between two requests for a task, where the server does not say
	shortestPollTime = 50 * time.Millisecond
	longestPollTime  = 5 * time.Minute
	maxTaskQuestions = 100 // of one task
)

var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Options say how a server is started and spoken to. The zero value is good for most.
type Options struct {
	Env             []string      // "NAME=value", in addition to HOME, PATH and the few others that servers get
	InheritEnv      bool          // pass on the whole environment, with its keys and tokens
	Dir             string        // the server's working folder
	Stderr          io.Writer     // gets a copy of the server's stderr, unescaped; errors quote its end in any case
	Ask             Ask           // answers the questions of tools; without it servers are informed that this client cannot ask
	Era             string        // "modern" or "legacy", for these revisions of MCP alone; by default modern ones first
	StartTimeout    time.Duration // 2 minutes by default
	Grace           time.Duration // between end of input, SIGTERM and SIGKILL in Close; 2 seconds by default
	MaxMessageBytes int           // the longest message accepted from the server; 64 MiB by default
	Name, Version   string        // of your program, as the server sees it
}

// Ask answers a tool's question to the user; several may be open at once. The context ends when no answer is wanted any
// more. An error fails the call.
type Ask func(ctx context.Context, question Question) (Answer, error)

// Question is a tool's question. Schema is the JSON Schema of the form, a flat object. Tool is empty where the server
// does not say which tool asks (before MCP 2026-07-28).
type Question struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
	Tool    string          `json:"-"`
}

// Answer is what the user did with a question: Accept(fields), Decline or Dismiss.
type Answer struct {
	Action string `json:"action"`
	Fields any    `json:"content,omitempty"`
}

// Decline says no to a question; Dismiss closes it without a decision.
var Decline, Dismiss = Answer{Action: "decline"}, Answer{Action: "cancel"}

// Accept answers a question with the fields of its form: a map, or a struct with JSON tags.
func Accept(fields any) Answer { return Answer{"accept", fields} }

// Progress is reported by a tool while it runs. Total is 0 where the server does not say.
type Progress struct {
	Done    float64 `json:"progress"`
	Total   float64 `json:"total"`
	Message string  `json:"message"`
}

// CallOption changes one call.
type CallOption func(*call)

// OnProgress reports the progress of a call, on the goroutine that makes it.
func OnProgress(report func(Progress)) CallOption { return func(c *call) { c.report = report } }

// Result is what a tool returned: content for people and models, and the same as data if the tool has an output schema.
type Result struct {
	Content    []Content       `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Raw        json.RawMessage `json:"-"` // the whole result
}

// Content is a block of content. Its type says which members it has: text (Text), image and audio (Data, MimeType),
// resource (Resource), resource_link (URI, Name, MimeType).
type Content struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	Data     []byte    `json:"data"`
	MimeType string    `json:"mimeType"`
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Resource *Resource `json:"resource"`
}

// Resource is an embedded resource, with a text or a blob.
type Resource struct {
	URI      string `json:"uri"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     []byte `json:"blob"`
}

// Text returns the text blocks, joined by newlines.
func (r *Result) Text() string {
	var texts []string
	for _, block := range r.Content {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ErrClosed is the error of calls during and after Close.
var ErrClosed = errors.New("the client was closed")

// ToolError says that a tool failed. Result has the text and the data that it failed with.
type ToolError struct {
	Tool   string
	Result *Result
}

func (e *ToolError) Error() string {
	return fmt.Sprintf("tool %q failed: %s", e.Tool, printable(e.Result.Text()))
}

// RequestError is the JSON-RPC error that the server answered with.
type RequestError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("%s (error %d)", printable(e.Message), e.Code)
}

// ProtocolError says that the server broke the rules of MCP, or speaks no revision that this client knows.
type ProtocolError struct{ Problem string }

func (e *ProtocolError) Error() string { return "the server " + printable(e.Problem) }

// ServerGoneError says that the server ended, or closed its output, before it answered. State is nil if it still runs.
// Stderr is the end of what it wrote there, and of its output that was no message.
type ServerGoneError struct {
	State  *os.ProcessState
	Stderr string
}

func (e *ServerGoneError) Error() string {
	if e.State == nil {
		return "the server closed its output" + quoted(e.Stderr)
	}
	return "the server ended with " + e.State.String() + quoted(e.Stderr)
}

func quoted(stderr string) string {
	if stderr == "" {
		return ", and wrote nothing to its stderr"
	}
	return "; the end of its stderr:\n" + strings.TrimRight(printable(stderr), "\n")
}

// printable keeps a server from sending commands to the terminal that shows an error.
func printable(text string) string {
	return strings.Map(func(letter rune) rune {
		if letter == '\n' || letter == '\t' || unicode.IsPrint(letter) {
			return letter
		}
		return unicode.ReplacementChar
	}, text)
}

// Client is a running server. Its methods may be called from any goroutine.
type Client struct {
	Revision string // of MCP

	options  Options
	meta     map[string]any // of each request to a modern server
	hasTasks bool           // calls become tasks, on request in legacy revisions
	command  *exec.Cmd
	input    io.Closer
	requests chan []byte // callers wait for room
	replies  chan []byte // without room they are dropped: the server does not read
	life     context.Context
	end      context.CancelCauseFunc
	exited   chan struct{}
	running  sync.WaitGroup
	closing  sync.Once

	mutex     sync.Mutex // of what follows
	lastID    int64
	calls     map[int64]*call
	questions map[string]context.CancelFunc
	stderr    []byte
}

type call struct {
	answer   chan message // room for one
	progress chan Progress
	report   func(Progress)
}

type message struct {
	ID, Params, Result, Error json.RawMessage
	Method                    string
}

// Start runs the server's command, without a shell, and agrees with it on a revision of MCP. The context limits only
// the start; Close ends the server.
func Start(ctx context.Context, command []string, options *Options) (*Client, error) {
	given := Options{}
	if options != nil {
		given = *options
	}
	given.StartTimeout = orDefault(given.StartTimeout, 2*time.Minute)
	given.Grace = orDefault(given.Grace, 2*time.Second)
	given.MaxMessageBytes = orDefault(given.MaxMessageBytes, 64<<20)
	given.Name, given.Version = orDefault(given.Name, "toolwire-go"), orDefault(given.Version, "1")
	ctx, cancel := context.WithTimeout(ctx, given.StartTimeout)
	defer cancel()
	for era := given.Era; ; era = "legacy" {
		client, err := launch(command, given)
		if err != nil {
			return nil, fmt.Errorf("the server cannot be started: %w", err)
		}
		if err = client.agree(ctx, era); err == nil {
			return client, nil
		}
		client.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("the server was not ready in time: %w%s", ctx.Err(), quoted(client.tail()))
		}
		if era != "" { // else the server may have ended, or hang, because of the probe: a new one does not get it
			return nil, err
		}
	}
}

func orDefault[T comparable](value, fallback T) T {
	if value == *new(T) {
		return fallback
	}
	return value
}

// agree tries server/discover unless the era is "legacy", and initialize unless it is "modern".
func (c *Client) agree(ctx context.Context, era string) error {
	info, capabilities := map[string]string{"name": c.options.Name, "version": c.options.Version}, map[string]any{}
	if c.options.Ask != nil {
		capabilities["elicitation"] = map[string]any{"form": struct{}{}}
	}
	meta := map[string]any{
		metaPrefix + "protocolVersion": modernVersion, metaPrefix + "clientInfo": info,
		metaPrefix + "clientCapabilities": withTasks(capabilities),
	}
	if era != "legacy" {
		short, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		raw, err := c.request(short, &call{}, "server/discover", map[string]any{"_meta": meta})
		var offer struct {
			Versions     []string `json:"supportedVersions"`
			Capabilities struct {
				Extensions map[string]json.RawMessage `json:"extensions"`
			} `json:"capabilities"`
		}
		if err == nil && json.Unmarshal(raw, &offer) == nil && slices.Contains(offer.Versions, modernVersion) {
			c.Revision, c.meta = modernVersion, meta
			_, c.hasTasks = offer.Capabilities.Extensions[tasksExtension]
			return nil
		}
		if era == "modern" && err == nil {
			return &ProtocolError{"does not speak MCP " + modernVersion}
		}
		if era == "modern" || c.life.Err() != nil {
			return err
		}
		var cancelHello context.CancelFunc
		ctx, cancelHello = context.WithTimeout(ctx, 3*probeTime) // the probe may have made it hang
		defer cancelHello()
	}
	hello := map[string]any{"protocolVersion": legacyVersions[0], "capabilities": capabilities, "clientInfo": info}
	raw, err := c.request(ctx, &call{}, "initialize", hello)
	if err != nil {
		return err
	}
	var welcome struct {
		Version      string `json:"protocolVersion"`
		Capabilities struct {
			Tasks struct {
				Requests struct {
					Tools struct {
						Call json.RawMessage `json:"call"`
					} `json:"tools"`
				} `json:"requests"`
			} `json:"tasks"`
		} `json:"capabilities"`
	}
	if json.Unmarshal(raw, &welcome) != nil || !slices.Contains(legacyVersions, welcome.Version) {
		return &ProtocolError{fmt.Sprintf("speaks MCP %q, which this client does not know", welcome.Version)}
	}
	c.Revision = welcome.Version
	c.hasTasks = welcome.Version == legacyVersions[0] && isPresent(welcome.Capabilities.Tasks.Requests.Tools.Call)
	return c.send(ctx, map[string]any{"method": "notifications/initialized"})
}

// withTasks declares the extension for tasks, which only modern servers know.
func withTasks(capabilities map[string]any) map[string]any {
	declared := maps.Clone(capabilities)
	declared["extensions"] = map[string]any{tasksExtension: struct{}{}}
	return declared
}

func launch(command []string, options Options) (*Client, error) {
	if len(command) == 0 {
		return nil, errors.New("the command is empty")
	}
	c := &Client{
		options: options, command: exec.Command(command[0], command[1:]...), exited: make(chan struct{}),
		requests: make(chan []byte, 64), replies: make(chan []byte, maxQuestions),
		calls: map[int64]*call{}, questions: map[string]context.CancelFunc{},
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	c.command.Dir, c.command.Env = options.Dir, environment(options)
	c.command.SysProcAttr = &syscall.SysProcAttr{}
	// A session, and so a group, of its own. Windows lacks the field, and a single file has no build constraints.
	if field := reflect.ValueOf(c.command.SysProcAttr).Elem().FieldByName("Setsid"); field.IsValid() {
		field.SetBool(true)
	}
	input, inputErr := c.command.StdinPipe()
	output, outputErr := c.command.StdoutPipe()
	stderr, stderrErr := c.command.StderrPipe()
	if err := errors.Join(inputErr, outputErr, stderrErr, c.command.Start()); err != nil {
		return nil, err
	}
	c.input = input
	saidAll := make(chan struct{})
	c.running.Add(4)
	go c.write(input, saidAll)
	go c.read(output, saidAll)
	go c.listen(stderr, saidAll)
	go c.wait(output, stderr)
	return c, nil
}

// environment has what the official clients pass on: a server must not see the keys and tokens of others.
func environment(options Options) []string {
	if options.InheritEnv {
		return append(os.Environ(), options.Env...)
	}
	names := "HOME LOGNAME PATH SHELL TERM USER"
	if runtime.GOOS == "windows" {
		names = "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA " +
			"SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE WINDIR"
	}
	passed := []string{}
	for _, name := range strings.Fields(names) {
		if value, is := os.LookupEnv(name); is && !strings.HasPrefix(value, "()") { // an exported shell function
			passed = append(passed, name+"="+value)
		}
	}
	return append(passed, options.Env...)
}

// Close fails the open calls and ends the server with its whole process group: by the end of its input, then SIGTERM,
// then SIGKILL.
func (c *Client) Close() error {
	c.closing.Do(func() {
		c.end(ErrClosed)
		c.input.Close()
		for _, next := range []os.Signal{syscall.SIGTERM, os.Kill} {
			if c.exits() {
				break
			}
			c.signal(next)
		}
	})
	if !c.exits() {
		return errors.New("the server was killed, but does not end")
	}
	c.running.Wait()
	return nil
}

func (c *Client) exits() bool {
	select {
	case <-c.exited:
		return true
	case <-time.After(c.options.Grace):
		return false
	}
}

func (c *Client) signal(signal os.Signal) {
	pid := c.command.Process.Pid
	if runtime.GOOS == "windows" {
		exec.Command("taskkill", "/F", "/T", "/PID", strconv.Itoa(pid)).Run()
	} else if group, err := os.FindProcess(-pid); err == nil { // as in kill(2)
		group.Signal(signal)
	}
}

// wait is not Cmd.Wait, which closes pipes that are not yet read.
func (c *Client) wait(pipes ...io.Reader) {
	defer c.running.Done()
	c.command.ProcessState, _ = c.command.Process.Wait()
	c.signal(os.Kill) // at once: without processes its id may be used for another group
	for _, pipe := range pipes {
		if file, is := pipe.(*os.File); is { // a process that has left the group may hold it
			file.SetReadDeadline(time.Now().Add(lastWordsTime))
		}
	}
	close(c.exited)
}

// gone fails the open calls after the end of the server's output or input.
func (c *Client) gone(saidAll chan struct{}) {
	gone, patience := &ServerGoneError{}, time.After(lastWordsTime)
	select {
	case <-c.exited:
		gone.State = c.command.ProcessState
		select {
		case <-saidAll:
		case <-patience:
		}
	case <-patience:
	}
	gone.Stderr = c.tail()
	c.end(gone)
}

func (c *Client) listen(stderr io.Reader, saidAll chan struct{}) {
	defer c.running.Done()
	defer close(saidAll)
	for chunk := make([]byte, keptBytes); ; {
		n, err := stderr.Read(chunk)
		c.keep(chunk[:n])
		if c.options.Stderr != nil {
			c.options.Stderr.Write(chunk[:n])
		}
		if err != nil {
			return
		}
	}
}

func (c *Client) keep(text []byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.stderr = append(c.stderr, text...)
	c.stderr = c.stderr[max(0, len(c.stderr)-keptBytes):]
}

func (c *Client) tail() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return string(c.stderr)
}

func (c *Client) write(input io.Writer, saidAll chan struct{}) {
	defer c.running.Done()
	for buffered := bufio.NewWriterSize(input, 64<<10); ; {
		var line []byte
		select {
		case line = <-c.requests:
		case line = <-c.replies:
		case <-c.life.Done():
			return
		}
		_, err := buffered.Write(line)
		if err == nil && len(c.requests)+len(c.replies) == 0 {
			err = buffered.Flush()
		}
		if err != nil {
			c.gone(saidAll)
			return
		}
	}
}

func (c *Client) read(output io.Reader, saidAll chan struct{}) {
	defer c.running.Done()
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, c.options.MaxMessageBytes)
	for lines.Scan() {
		var m message
		isRead := json.Unmarshal(lines.Bytes(), &m) == nil
		switch {
		case isRead && (m.ID != nil || m.Method != "") && len(m.ID) < maxIDBytes:
			c.take(m)
		case !isRead && bytes.HasPrefix(lines.Bytes(), []byte("{")) && bytes.Contains(lines.Bytes(), []byte(`"jsonrpc"`)):
			c.end(&ProtocolError{"sent a message that is no JSON, or nested too deeply"}) // whose call would never end
		default:
			c.keep(append(lines.Bytes()[:min(len(lines.Bytes()), keptBytes)], '\n'))
		}
	}
	if lines.Err() == bufio.ErrTooLong {
		c.end(&ProtocolError{fmt.Sprintf("sent a message of more than %d bytes", c.options.MaxMessageBytes)})
	}
	c.gone(saidAll)
}

func (c *Client) take(m message) {
	switch {
	case m.Method == "ping" && isPresent(m.ID):
		c.reply(m.ID, "result", struct{}{})
	case m.Method == "elicitation/create" && isPresent(m.ID) && c.options.Ask != nil:
		c.question(m)
	case m.Method != "" && isPresent(m.ID):
		c.reply(m.ID, "error", RequestError{-32601, "this client has no method " + m.Method, nil})
	case m.Method == "notifications/progress":
		c.progress(m.Params)
	case m.Method == "notifications/cancelled":
		var of struct {
			ID json.RawMessage `json:"requestId"`
		}
		json.Unmarshal(m.Params, &of)
		c.mutex.Lock()
		withdraw := c.questions[string(of.ID)]
		c.mutex.Unlock()
		if withdraw != nil {
			withdraw()
		}
	case m.Method == "":
		if !isPresent(m.ID) && isPresent(m.Error) {
			m.ID = json.RawMessage("1") // who could not read the id could not read the first message, the probe
		}
		if open := c.settled(m.ID); open != nil {
			open.answer <- m
		}
	}
}

// settled takes the call with an id from the open ones; nil if there is none.
func (c *Client) settled(id json.RawMessage) *call {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	number := number(id)
	open := c.calls[number]
	delete(c.calls, number)
	return open
}

// number reads an id; some servers send them back as strings or with a fraction. No call has the id 0.
func number(id json.RawMessage) int64 {
	value, _ := strconv.ParseFloat(strings.Trim(string(id), `"`), 64)
	if value != float64(int64(value)) {
		return 0
	}
	return int64(value)
}

func (c *Client) progress(params json.RawMessage) {
	var about struct {
		Token json.RawMessage `json:"progressToken"`
		Progress
	}
	if json.Unmarshal(params, &about) != nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if open := c.calls[number(about.Token)]; open != nil {
		select {
		case open.progress <- about.Progress:
		default: // the call wants none, or takes none in time
		}
	}
}

// question answers a question of a legacy server, which does not say for which call.
func (c *Client) question(m message) {
	ctx, cancel := context.WithCancel(c.life)
	id := string(m.ID)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.questions[id] != nil || len(c.questions) >= maxQuestions {
		cancel()
		c.reply(m.ID, "error", RequestError{-32600, "too many open questions, or one id twice", nil})
		return
	}
	c.questions[id] = cancel
	go func() {
		answer, err := c.ask(ctx, m.Params, "")
		withdrawn := ctx.Err() != nil
		cancel()
		c.mutex.Lock()
		delete(c.questions, id)
		c.mutex.Unlock()
		var wrong *ProtocolError
		switch {
		case withdrawn:
		case errors.As(err, &wrong):
			c.reply(m.ID, "error", RequestError{-32602, wrong.Problem, nil})
		case err != nil:
			c.reply(m.ID, "error", RequestError{-32603, "the client failed to ask the user", nil})
		default:
			c.reply(m.ID, "result", answer)
		}
	}()
}

func (c *Client) ask(ctx context.Context, params json.RawMessage, tool string) (Answer, error) {
	asked := Question{Tool: tool}
	if json.Unmarshal(params, &asked) != nil || asked.Schema == nil {
		return Answer{}, &ProtocolError{"asks a question that is no form with a message and a schema"}
	}
	return c.options.Ask(ctx, asked)
}

// reply answers the server from the reader, which must not wait for room.
func (c *Client) reply(id json.RawMessage, member string, value any) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, member: value})
	if err != nil { // the fields of an answer
		c.reply(id, "error", RequestError{-32603, "the client's answer is not JSON", nil})
		return
	}
	select {
	case c.replies <- append(line, '\n'):
	default:
	}
}

// send sends what a caller has to say; it waits for room.
func (c *Client) send(ctx context.Context, members map[string]any) error {
	members["jsonrpc"] = "2.0"
	line, err := json.Marshal(members)
	if err != nil {
		return err
	}
	select {
	case c.requests <- append(line, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.life.Done():
		return context.Cause(c.life)
	}
}

// request returns the result of one request.
func (c *Client) request(ctx context.Context, open *call, method string, params map[string]any) (json.RawMessage, error) {
	open.answer = make(chan message, 1)
	c.mutex.Lock()
	c.lastID++
	id := c.lastID
	c.calls[id] = open
	c.mutex.Unlock()
	defer func() {
		c.mutex.Lock()
		delete(c.calls, id)
		c.mutex.Unlock()
	}()
	meta := map[string]any{}
	maps.Copy(meta, c.meta)
	if open.progress != nil {
		meta["progressToken"] = id
	}
	if len(meta) > 0 {
		params["_meta"] = meta
	}
	if err := c.send(ctx, map[string]any{"id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		select {
		case progress := <-open.progress:
			open.report(progress)
		case answer := <-open.answer:
			return open.outcome(answer)
		case <-ctx.Done():
			if c.Revision != "" { // MCP forbids to cancel the handshake, which ends with the process
				go c.cancel(id, ctx.Err())
			}
			return nil, ctx.Err()
		case <-c.life.Done():
			select {
			case answer := <-open.answer:
				return open.outcome(answer)
			default:
				return nil, context.Cause(c.life)
			}
		}
	}
}

func (c *Client) cancel(id int64, reason error) {
	params := map[string]any{"requestId": id, "reason": reason.Error()}
	if c.meta != nil {
		params["_meta"] = c.meta
	}
	c.send(c.life, map[string]any{"method": "notifications/cancelled", "params": params})
}

// outcome reports the progress that came before the answer.
func (open *call) outcome(answer message) (json.RawMessage, error) {
	for len(open.progress) > 0 {
		open.report(<-open.progress)
	}
	switch {
	case isPresent(answer.Error):
		failure := &RequestError{}
		json.Unmarshal(answer.Error, failure) // as far as it can be read
		failure.Message = orDefault(failure.Message, "the server answered with an error without a message")
		return nil, failure
	case answer.Result == nil:
		return nil, &ProtocolError{"sent a response with neither a result nor an error"}
	}
	return answer.Result, nil
}

func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// CallTool calls a tool with arguments that become a JSON object; nil for none. The call is cancelled with the context.
// If the server makes the call a task, CallTool waits for it.
// Its errors are a *ToolError, *RequestError, *ProtocolError, *ServerGoneError, ErrClosed, or that of the context.
func (c *Client) CallTool(ctx context.Context, name string, arguments any, options ...CallOption) (*Result, error) {
	task, err := c.rounds(ctx, name, arguments, options, false)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", name, err)
	}
	result, err := task.Result(ctx, options...)
	var settled *RequestError
	var failed *ToolError
	if err != nil && !errors.As(err, &settled) && !errors.As(err, &failed) {
		go task.Cancel(c.life)
	}
	return result, err
}

// outcome returns the result of a tool, as an error if it failed.
func outcome(tool string, result *Result) (*Result, error) {
	if result.IsError {
		return nil, &ToolError{tool, result}
	}
	return result, nil
}

func newCall(options []CallOption) *call {
	open := &call{}
	for _, option := range options {
		option(open)
	}
	return open
}

// rounds returns the task that a call has become, which has ended if the server has answered with the result.
func (c *Client) rounds(
	ctx context.Context, name string, arguments any, options []CallOption, asTask bool,
) (*Task, error) {
	open := newCall(options)
	if open.report != nil {
		open.progress = make(chan Progress, 256)
	}
	if arguments == nil {
		arguments = struct{}{}
	}
	params := map[string]any{"name": name, "arguments": arguments}
	isModern := c.meta != nil
	asTask = asTask && !isModern // a modern server decides by itself
	for range maxRounds {
		if asTask {
			params["task"] = struct{}{}
		}
		raw, err := c.request(ctx, open, "tools/call", params)
		var refused *RequestError
		if errors.As(err, &refused) && refused.Code == -32601 && c.hasTasks && !isModern && !asTask {
			asTask = true // some tools run only as tasks; nothing has run
			continue
		}
		if err != nil {
			return nil, err
		}
		result := Result{Raw: raw}
		var more questions
		if json.Unmarshal(raw, &result) != nil || json.Unmarshal(raw, &more) != nil {
			return nil, &ProtocolError{"sent a result of a call that is none"}
		}
		made := json.RawMessage(nil)
		if isModern && more.Type == "task" {
			made = raw
		} else if !isModern {
			made = more.Task
		}
		if isPresent(made) {
			status, err := readTask(made, "")
			if err != nil {
				return nil, err
			}
			return c.Task(status.ID, name), nil
		}
		switch more.Type {
		case "", "complete":
			return &Task{client: c, tool: name, result: &result}, nil
		case "input_required":
		default:
			return nil, &ProtocolError{fmt.Sprintf("sent a result of the unknown type %q", more.Type)}
		}
		if err := c.answer(ctx, name, more, params); err != nil {
			return nil, err
		}
	}
	return nil, &ProtocolError{fmt.Sprintf("still asks after %d rounds of questions", maxRounds)}
}

type questions struct {
	Type     string             `json:"resultType"`
	Task     json.RawMessage    `json:"task"` // of MCP 2025-11-25
	Requests map[string]request `json:"inputRequests"`
	State    json.RawMessage    `json:"requestState"`
}

type request struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// answer puts the answers to a modern server's questions into the params of the next round.
func (c *Client) answer(ctx context.Context, tool string, asked questions, params map[string]any) error {
	delete(params, "requestState")
	if asked.State != nil {
		params["requestState"] = asked.State
	}
	answers := map[string]Answer{}
	for _, name := range slices.Sorted(maps.Keys(asked.Requests)) {
		request := asked.Requests[name]
		if request.Method != "elicitation/create" || c.options.Ask == nil {
			return &ProtocolError{fmt.Sprintf("asks for %q, which this client did not offer", request.Method)}
		}
		answer, err := c.ask(ctx, request.Params, tool)
		if err != nil {
			return err
		}
		answers[name] = answer
	}
	delete(params, "inputResponses")
	if len(answers) > 0 {
		params["inputResponses"] = answers
		return nil
	}
	select { // only the state comes back, as from a tool that waits for something
	case <-time.After(100 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ErrNoTasks is the error of StartTask for a server that does not turn calls into tasks.
var ErrNoTasks = errors.New("the server has no tasks")

// Task is a call that goes on at its server, which keeps the result. ID finds it again, also after a new connection; it
// is empty if the server has answered with the result at once. Methods of one task are for one goroutine at a time.
type Task struct {
	ID string

	client   *Client
	tool     string
	answered map[string]bool // the keys of its questions
	result   *Result
}

// TaskStatus is the state of a task: working, input_required, completed, failed or cancelled.
type TaskStatus struct {
	ID      string `json:"taskId"`
	State   string `json:"status"`
	Message string `json:"statusMessage"`
}

type taskMembers struct {
	TaskStatus
	Poll       *float64           `json:"pollIntervalMs"`
	LegacyPoll *float64           `json:"pollInterval"`
	Requests   map[string]request `json:"inputRequests"`
	Result     json.RawMessage    `json:"result"`
	Error      json.RawMessage    `json:"error"`
}

// StartTask calls a tool and returns as soon as the server has answered: with a task that goes on, or with the result.
// Its errors are those of CallTool, and ErrNoTasks.
func (c *Client) StartTask(ctx context.Context, name string, arguments any, options ...CallOption) (*Task, error) {
	if !c.hasTasks {
		return nil, fmt.Errorf("tool %q: %w", name, ErrNoTasks)
	}
	task, err := c.rounds(ctx, name, arguments, options, true)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", name, err)
	}
	return task, nil
}

// Task returns the task of an earlier call of a tool.
func (c *Client) Task(id, tool string) *Task {
	return &Task{ID: id, client: c, tool: tool, answered: map[string]bool{}}
}

// Result waits for the result of the call, with the questions and the status messages of its task. Its errors are those
// of CallTool; a cancelled task is a *RequestError with the code -32800. When the context ends, the task goes on.
func (t *Task) Result(ctx context.Context, options ...CallOption) (*Result, error) {
	if t.result == nil {
		result, err := t.wait(ctx, newCall(options))
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.tool, err)
		}
		t.result = result
	}
	return outcome(t.tool, t.result)
}

// Status asks the server for the state of the task.
func (t *Task) Status(ctx context.Context) (TaskStatus, error) {
	if t.ID == "" {
		return TaskStatus{State: "completed"}, nil
	}
	members, err := t.read(ctx)
	return members.TaskStatus, err
}

// Cancel asks the server to cancel the task; it decides whether and when.
func (t *Task) Cancel(ctx context.Context) error {
	if t.ID == "" {
		return nil
	}
	_, err := t.ask(ctx, "tasks/cancel", map[string]any{})
	return err
}

func (t *Task) ask(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	params["taskId"] = t.ID
	return t.client.request(ctx, &call{}, method, params)
}

func (t *Task) read(ctx context.Context) (taskMembers, error) {
	raw, err := t.ask(ctx, "tasks/get", map[string]any{})
	if err != nil {
		return taskMembers{}, err
	}
	return readTask(raw, t.ID)
}

// readTask reads the members of a task, which is the one with an id unless that is empty.
func readTask(raw json.RawMessage, id string) (taskMembers, error) {
	var members taskMembers
	if json.Unmarshal(raw, &members) != nil || members.ID == "" || id != "" && id != members.ID {
		return members, &ProtocolError{"sent a task that is none, or another one"}
	}
	if !slices.Contains([]string{"working", "input_required", "completed", "failed", "cancelled"}, members.State) {
		return members, &ProtocolError{fmt.Sprintf("sent a task of the unknown status %q", members.State)}
	}
	return members, nil
}

func (t *Task) wait(ctx context.Context, open *call) (*Result, error) {
	isModern := t.client.meta != nil
	for said := ""; ; {
		members, err := t.read(ctx)
		if err != nil {
			return nil, err
		}
		if open.report != nil && members.Message != "" && members.Message != said {
			said = members.Message
			open.report(Progress{Message: said})
		}
		switch {
		case members.State == "cancelled":
			return nil, &RequestError{-32800, "the task was cancelled", nil}
		case !isModern && members.State != "working": // it may ask its questions only while its result is waited for
			raw, err := t.ask(ctx, "tasks/result", map[string]any{})
			if err != nil {
				return nil, err
			}
			return readResult(raw)
		case members.State == "completed":
			return readResult(members.Result)
		case members.State == "failed":
			_, err := (&call{}).outcome(message{Error: orNull(members.Error)})
			return nil, err
		case members.State == "input_required":
			if err := t.answer(ctx, questions{Requests: members.Requests}); err != nil {
				return nil, err
			}
		}
		select {
		case <-time.After(members.pause()):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func orNull(raw json.RawMessage) json.RawMessage {
	if isPresent(raw) {
		return raw
	}
	return json.RawMessage(`{"message":"the task failed"}`)
}

func readResult(raw json.RawMessage) (*Result, error) {
	result := Result{Raw: raw}
	if json.Unmarshal(raw, &result) != nil {
		return nil, &ProtocolError{"sent a result of a task that is none"}
	}
	return &result, nil
}

// answer answers the questions of a modern task that are new.
func (t *Task) answer(ctx context.Context, asked questions) error {
	maps.DeleteFunc(asked.Requests, func(key string, _ request) bool { return t.answered[key] })
	if len(asked.Requests) == 0 {
		return nil
	}
	if len(t.answered)+len(asked.Requests) > maxTaskQuestions {
		return &ProtocolError{fmt.Sprintf("asks more than %d questions in one task", maxTaskQuestions)}
	}
	params := map[string]any{}
	if err := t.client.answer(ctx, t.tool, asked, params); err != nil {
		return err
	}
	if _, err := t.ask(ctx, "tasks/update", params); err != nil {
		return err
	}
	for key := range asked.Requests {
		t.answered[key] = true
	}
	return nil
}

func (m taskMembers) pause() time.Duration {
	wanted := pollTime
	for _, milliseconds := range []*float64{m.Poll, m.LegacyPoll} {
		if milliseconds != nil {
			wanted = time.Duration(min(*milliseconds, float64(longestPollTime/time.Millisecond))) * time.Millisecond
		}
	}
	return min(max(wanted, shortestPollTime), longestPollTime)
}

// Call returns the structured result of a tool, or its member "result" if it is wrapped. Generated functions use it.
func Call[T any](
	ctx context.Context, c *Client, isWrapped bool, name string, arguments any, options ...CallOption,
) (value T, err error) {
	result, err := c.CallTool(ctx, name, arguments, options...)
	if err != nil {
		return value, err
	}
	box := struct{ Result json.RawMessage }{result.Structured}
	if isWrapped {
		box.Result = nil
		json.Unmarshal(result.Structured, &box)
	}
	if box.Result == nil {
		err = &ProtocolError{"sent no structured result, although it declares one"}
	} else if err = decode(box.Result, &value); err != nil {
		err = fmt.Errorf("tool %q: %w", name, &ProtocolError{"sent no result as its schema says: " + err.Error()})
	}
	return value, err
}

// decode keeps the numbers in an any as they are, as a json.Number.
func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// Optional returns a pointer to a value, as members have it that may be absent.
func Optional[T any](value T) *T { return &value }

// List is a JSON array. A []T can be assigned to it, but a List that is nil is written as [].
type List[T any] []T

// MarshalJSON returns the array.
func (l List[T]) MarshalJSON() ([]byte, error) { return json.Marshal(append([]T{}, l...)) }

// Map is a JSON object with any names. A map[string]T can be assigned to it, but a Map that is nil is written as {}.
type Map[T any] map[string]T

// MarshalJSON returns the object.
func (m Map[T]) MarshalJSON() ([]byte, error) {
	if m == nil {
		m = Map[T]{}
	}
	return json.Marshal(map[string]T(m))
}

// Bytes is a text in Base64. A []byte can be assigned to it, but Bytes that are nil are written as an empty text.
type Bytes []byte

// MarshalJSON returns the text.
func (b Bytes) MarshalJSON() ([]byte, error) { return json.Marshal(append([]byte{}, b...)) }

// Time is a text with a date and a time of day. It has all methods of a time.Time: Time{time.Now()} makes one.
type Time struct{ time.Time }

var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
}

// UnmarshalJSON reads a time; one without an offset, as some servers send it, is in UTC.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	var err error
	for _, layout := range timeLayouts {
		if t.Time, err = time.Parse(layout, strings.ToUpper(text)); err == nil {
			return nil
		}
	}
	return err
}

// Nullable is a member that may be absent, as its zero value is, or null, or *Value.
type Nullable[T any] struct {
	Value     *T
	IsPresent bool
}

// Some returns a value for a member that may be absent or null; Null returns null.
func Some[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// Null returns null for a member that may be absent or null.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// MarshalJSON returns the value or null; what is absent is left out by its object.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON reads a value or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.IsPresent = true
	return decode(data, &n.Value)
}

// Union is a value of one of several types. Types of generated clients embed it.
type Union struct{ value any }

// UnionOf returns the union that is a value.
func UnionOf(value any) Union { return Union{value} }

// MarshalJSON returns the value.
func (u Union) MarshalJSON() ([]byte, error) { return json.Marshal(u.value) }

// UnmarshalJSON keeps any value: As decides whether it is of a type.
func (u *Union) UnmarshalJSON(data []byte) error {
	u.value = json.RawMessage(bytes.Clone(data))
	return nil
}

// As returns a union as one of its types, if it has all members that the type requires, and known texts.
func As[T any](union Union) (value T, is bool) {
	data, err := json.Marshal(union.value)
	is = err == nil && string(data) != "null" && decode(data, &value) == nil && hasAll(reflect.ValueOf(value), data)
	return value, is
}

// hasAll tells whether data has all required members of the type that it was decoded into, and only known texts.
func hasAll(value reflect.Value, data []byte) bool {
	if text, is := value.Interface().(interface{ IsKnown() bool }); is {
		return text.IsKnown()
	}
	var members map[string]json.RawMessage
	if value.Kind() != reflect.Struct || json.Unmarshal(data, &members) != nil {
		return true
	}
	for i := range value.NumField() {
		name, isOptional := tagged(value.Type().Field(i))
		data, is := members[name]
		if name != "" && (!is && !isOptional || is && !hasAll(value.Field(i), data)) {
			return false
		}
	}
	return true
}

// tagged returns the name of a field in JSON, "" if it has none, and whether it may be absent.
func tagged(field reflect.StructField) (string, bool) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-"), options != ""
}

// EncodeOpen returns a struct as JSON with more members; generated types use it.
func EncodeOpen[T any](known any, more Map[T]) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || len(more) == 0 {
		return data, err
	}
	members, all := map[string]json.RawMessage{}, map[string]any{}
	json.Unmarshal(data, &members)
	for name, value := range more {
		all[name] = value
	}
	for name, value := range members { // the known ones count
		all[name] = value
	}
	return json.Marshal(all)
}

// DecodeOpen reads a struct, and into more the members that it has no fields for; generated types use it.
func DecodeOpen[T any](data []byte, known any, more *Map[T]) error {
	members := map[string]json.RawMessage{}
	if err := errors.Join(decode(data, known), json.Unmarshal(data, &members)); err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(known).Elem()) {
		// The field for other members has no name; a member whose name is empty is not of it.
		if name, _ := tagged(field); name != "" {
			delete(members, name)
		}
	}
	if len(members) == 0 {
		return nil
	}
	rest, _ := json.Marshal(members)
	return decode(rest, more)
}
