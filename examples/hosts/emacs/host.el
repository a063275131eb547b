;;; host.el --- A host in Emacs Lisp  -*- lexical-binding: t -*-

;; Emacs's own jsonrpc.el, which Eglot is built on, speaks JSON-RPC with Content-Length headers.
;;
;;     emacs -Q --batch -l host.el -- toolwire serve ../tools.py

;;; Code:

(require 'jsonrpc)
(require 'seq)

(defvar host-on-progress nil
  "Called with the parameters of each progress notification.")

(defvar host-stderr (get-buffer-create "*toolwire stderr*")
  "The buffer for what the server writes to its standard error.")

(defconst host-seconds 60
  "How long an answer may take; the first waits for the server's start as well.")

(defun host-start (command)
  "Start the tool server COMMAND, a list of strings, and return the connection to it."
  (unless command (user-error "usage: emacs -Q --batch -l host.el -- COMMAND..."))
  (make-instance
   'jsonrpc-process-connection
   :name "toolwire"
   :notification-dispatcher
   (lambda (_connection method params)
     (when (and host-on-progress (eq method 'notifications/progress))
       (funcall host-on-progress params)))
   :process
   (lambda ()
     (make-process :name "toolwire" :command command :connection-type 'pipe
                   :coding 'utf-8-emacs-unix :noquery t
                   :stderr host-stderr))))

(defun host-say (format &rest values)
  "Print a line: FORMAT with VALUES."
  (princ (concat (apply #'format format values) "\n")))

(defun host-call (server name arguments)
  "The result of calling the tool NAME of SERVER with ARGUMENTS, a property list."
  (jsonrpc-request server 'tools/call
                   (list :name name :arguments arguments :_meta '(:progressToken 1))
                   :timeout host-seconds))

(defun host-text (result)
  "The text that RESULT begins with."
  (plist-get (aref (plist-get result :content) 0) :text))

(defun host-cancelled (server name arguments)
  "Call the tool NAME of SERVER with ARGUMENTS, cancel it once it runs, and return the code of the answer."
  (let* (code
         (id (or (car (jsonrpc-async-request
                       server 'tools/call
                       (list :name name :arguments arguments :_meta '(:progressToken 1))
                       :success-fn (lambda (_result) (setq code "none, it was answered"))
                       :timeout host-seconds
                       :timeout-fn (lambda () (setq code "none in time"))
                       :error-fn (lambda (error) (setq code (plist-get error :code)))))
                 ;; Before Emacs 30 the id is not returned.
                 (jsonrpc--next-request-id server)))
         (host-on-progress (lambda (_) (jsonrpc-notify server '$/cancelRequest (list :id id)))))
    (while (null code) (accept-process-output nil 1))
    code))

(defun host-main (command)
  "Have the tool server COMMAND do all there is to show."
  (let* ((server (host-start command))
         (process (jsonrpc--process server)))
    (seq-doseq (tool (plist-get (jsonrpc-request server 'tools/list nil :timeout host-seconds) :tools))
      (host-say "%s: %s" (plist-get tool :name) (plist-get tool :description)))

    (host-say "add -> %d"
              (plist-get (plist-get (host-call server "add" '(:a 2 :b 3)) :structuredContent) :result))

    (let ((refused (host-call server "add" '(:a "two" :b 3))))
      (host-say "add %s: %s" (if (eq (plist-get refused :isError) t) "failed" "worked") (host-text refused)))

    (let ((host-on-progress
           (lambda (report)
             (host-say "count: %d of %d" (plist-get report :progress) (plist-get report :total)))))
      (host-say "count -> %s" (host-text (host-call server "count" '(:to 3)))))

    (host-say "wait cancelled: %d" (host-cancelled server "wait" '(:seconds 60)))

    (process-send-eof process)
    (while (process-live-p process) (accept-process-output process 1))
    (host-say "the server left with status %d" (process-exit-status process))))

(condition-case problem
    (host-main (cdr command-line-args-left))
  (error
   (while (accept-process-output (get-buffer-process host-stderr) 0.1))
   (message "%s" (with-current-buffer host-stderr (buffer-string)))
   (message "%s" (error-message-string problem))
   (kill-emacs 1)))
(kill-emacs)

;;; host.el ends here
