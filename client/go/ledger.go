package maskd

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "maskd.io/maskd/maskdv1"
)

// rowLedger is what a client must know of its rows to open them anew on another server: how each was opened,
// and the tokens that it has taken since.
//
// The replies are the truth: a step counts once its reply is here, and each row has as many tokens as its
// reply says. A reply that no server gives that keeps to the protocol is booked not at all. A row's grammar
// is the one that its first reply named: a server whose ids have the same format must name it too; one with
// another format is told the text and believed. A row's tokens include those after its end.
type rowLedger struct {
	rows     map[RowID]*ledgerRow
	grammars map[string]*pb.Grammar
	format   string
	givenUp  map[RowID]bool // and neither closed nor opened by the caller since
}

type ledgerRow struct {
	open       *pb.OpenRow // its tokens are those taken so far
	grammarID  string      // as its first reply has it, in that server's format; empty: none has
	format     string
	tokenLimit *int64 // the token count at which none is left; nil: no bound
	isUsed     bool   // a reply has said where it stands
	failed     bool   // its server said that it cannot go on
	isLate     bool   // the caller's step opens it, not the replay
}

// place is where a reply says that a row stands.
type place struct {
	row    *ledgerRow
	reply  *Row
	kept   int           // of the tokens booked
	update *pb.RowUpdate // that is booked; nil: none is
}

func newRowLedger() *rowLedger {
	return &rowLedger{rows: map[RowID]*ledgerRow{}, grammars: map[string]*pb.Grammar{},
		givenUp: map[RowID]bool{}}
}

// isSettled is whether a server has told of each row where it stands, so none compiles.
func (l *rowLedger) isSettled() bool {
	for _, row := range l.rows {
		if !row.isUsed && !row.failed {
			return false
		}
	}
	return true
}

// compileRequests are the grammars of the rows, each once: by their texts where those are known, else by id.
func (l *rowLedger) compileRequests(tokenizer string) []*pb.CompileRequest {
	var all []*pb.CompileRequest
	seen := map[string]bool{}
	for _, id := range l.ids() {
		row := l.rows[id]
		if row.failed || row.grammarID != "" && seen[row.grammarID] {
			continue
		}
		seen[row.grammarID] = true
		request := &pb.CompileRequest{Tokenizer: tokenizer}
		text := row.open.GetGrammar()
		if text == nil {
			text = l.grammars[row.open.GetGrammarId()]
		}
		if text != nil {
			request.Target = &pb.CompileRequest_Grammar{Grammar: text}
		} else {
			request.Target = &pb.CompileRequest_GrammarId{GrammarId: row.open.GetGrammarId()}
		}
		all = append(all, request)
	}
	return all
}

// writeTexts makes a step fit for a server that may know nothing: opens by id get the text where it is kept.
func (l *rowLedger) writeTexts(step *pb.Step) {
	for _, open := range step.GetOpen() {
		l.writeText(open)
	}
}

func (l *rowLedger) writeText(open *pb.OpenRow) {
	if text := l.grammars[open.GetGrammarId()]; text != nil {
		open.Target = &pb.OpenRow_Grammar{Grammar: text}
	}
}

// giveUp gives up the rows that a step opens, moves, forks into or describes, and those that it was to open
// for a server before, and says which; of the rest it books the closes.
func (l *rowLedger) giveUp(step *pb.Step) []RowID {
	for _, id := range step.GetClose() {
		delete(l.rows, id)
	}
	var rows []RowID
	for _, open := range step.GetOpen() {
		rows = append(rows, open.GetRow())
	}
	for _, update := range step.GetRows() {
		rows = append(rows, update.GetRow())
	}
	for _, fork := range step.GetFork() {
		rows = append(rows, fork.GetChild())
	}
	rows = append(rows, step.GetSnapshot()...)
	for _, id := range l.ids() {
		if l.rows[id].isLate {
			rows = append(rows, id)
		}
	}
	var once []RowID
	for _, id := range rows {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
		delete(l.rows, id)
		l.givenUp[id] = true
	}
	return once
}

// dropCloses takes out of a step the closes of rows that were given up, of which the servers know nothing.
func (l *rowLedger) dropCloses(step *pb.Step) {
	if len(l.givenUp) == 0 {
		return
	}
	step.Close = slices.DeleteFunc(step.Close, func(id RowID) bool {
		gone := l.givenUp[id]
		delete(l.givenUp, id)
		return gone
	})
	for _, open := range step.GetOpen() {
		delete(l.givenUp, open.GetRow())
	}
	for _, fork := range step.GetFork() {
		delete(l.givenUp, fork.GetChild())
	}
}

// ids of the rows, ordered, so that a replay is the same in every run.
func (l *rowLedger) ids() []RowID { return slices.Sorted(maps.Keys(l.rows)) }

// apply books a step and its reply. Errors, nothing being booked: Internal (the reply is not one to this
// step and these rows), Unavailable (the server does not open a row that was booked), FailedPrecondition (a
// row has another grammar here).
func (l *rowLedger) apply(step *pb.Step, replies []Row) error {
	before := map[RowID]*ledgerRow{} // the rows that the step opens or closes, as they were
	for _, id := range step.GetClose() {
		l.put(id, nil, before)
	}
	l.applyForks(step, replies, before)
	l.applyOpens(step, replies, before)
	places, err := l.placesOf(step, replies)
	if err != nil {
		for id, row := range before {
			l.put(id, row, nil)
		}
		return err
	}
	for _, each := range places {
		l.moveTo(each)
	}
	return nil
}

// put sets a row, or takes it away where it is nil, and notes in `before` how it was.
func (l *rowLedger) put(id RowID, row *ledgerRow, before map[RowID]*ledgerRow) {
	if before != nil {
		if _, noted := before[id]; !noted {
			before[id] = l.rows[id]
		}
	}
	if row == nil {
		delete(l.rows, id)
	} else {
		l.rows[id] = row
	}
}

func (l *rowLedger) applyForks(step *pb.Step, replies []Row, before map[RowID]*ledgerRow) {
	for _, fork := range step.GetFork() {
		parent := l.rows[fork.GetParent()]
		if parent == nil || hasState(replies, fork.GetChild(), true) {
			continue
		}
		child := *parent
		child.open = proto.CloneOf(parent.open)
		child.open.Row = fork.GetChild()
		if reply := findRow(replies, fork.GetParent()); reply != nil && !parent.isUsed &&
			refusesOpening(reply, len(child.open.Tokens)) {
			child.open.Tokens = child.open.Tokens[:reply.TokenCount]
		}
		l.put(fork.GetChild(), &child, before)
	}
}

func (l *rowLedger) applyOpens(step *pb.Step, replies []Row, before map[RowID]*ledgerRow) {
	for _, open := range step.GetOpen() {
		id := open.GetRow()
		if l.rows[id] != nil || !hasState(replies, id, false) {
			continue
		}
		row := &ledgerRow{open: proto.CloneOf(open)}
		if open.RemainingTokens != nil {
			row.tokenLimit = proto.Int64(int64(len(open.GetTokens())) + int64(open.GetRemainingTokens()))
		}
		l.put(id, row, before)
	}
}

// hasState is whether a row was refused something, or was answered.
func hasState(replies []Row, id RowID, refused bool) bool {
	return slices.ContainsFunc(replies, func(row Row) bool {
		return row.ID == id && (row.State == Refused) == refused
	})
}

func findRow(replies []Row, id RowID) *Row {
	for i := range replies {
		if replies[i].ID == id {
			return &replies[i]
		}
	}
	return nil
}

func (l *rowLedger) placesOf(step *pb.Step, replies []Row) ([]place, error) {
	updates := make(map[RowID]*pb.RowUpdate, len(step.GetRows()))
	for _, update := range step.GetRows() {
		if updates[update.GetRow()] == nil {
			updates[update.GetRow()] = update
		}
	}
	answered := make(map[RowID]bool, len(replies))
	places := make([]place, 0, len(replies))
	for i := range replies {
		reply := &replies[i]
		row := l.rows[reply.ID]
		if row == nil {
			continue
		}
		if reply.State == Refused {
			if row.isLate {
				return nil, cannotGoOn(reply.ID, "is refused", reply.Err)
			}
			continue
		}
		if row.isLate && isForLoad(reply) {
			return nil, cannotGoOn(reply.ID, "is refused", reply.Err)
		}
		if answered[reply.ID] {
			return nil, errorf(codes.Internal, "the server answers row %d twice", reply.ID)
		}
		answered[reply.ID] = true
		if err := l.checkGrammar(row, reply); err != nil {
			return nil, err
		}
		at, err := placeOf(updates[reply.ID], reply, row)
		if err != nil {
			return nil, err
		}
		places = append(places, at)
	}
	return places, nil
}

// placeOf reads one answer; update is nil for a row that is answered unasked.
func placeOf(update *pb.RowUpdate, reply *Row, row *ledgerRow) (place, error) {
	before := len(row.open.GetTokens())
	at := place{row: row, reply: reply, kept: before}
	if !saysItsPlace(reply) {
		// Of a row that compiles an update says at most how many tokens are left.
		if reply.State == Compiling && reply.Err == nil {
			at.update = update
		}
		return at, nil
	}
	ofOpening := !row.isUsed && refusesOpening(reply, before)
	moves := update != nil && !ofOpening && !refusesAll(reply, before)
	most := before
	if moves {
		at.update = update
		at.kept = before - min(before, int(update.GetRollback()))
		most = at.kept + len(update.GetTokens())
	}
	least := 0
	if reply.Err == nil || lacksRoom(reply) {
		least = most
	} else if moves {
		least = at.kept
	}
	if count := int(reply.TokenCount); count < least || count > most {
		return place{}, errorf(codes.Internal, "the server says that row %d has taken %d tokens, not %d to %d",
			reply.ID, count, least, most)
	}
	return at, nil
}

// checkGrammar holds a reply to the row's own grammar.
func (l *rowLedger) checkGrammar(row *ledgerRow, reply *Row) error {
	if row.grammarID == "" || reply.GrammarID == "" || row.format != l.format ||
		row.grammarID == string(reply.GrammarID) {
		return nil
	}
	return errorf(codes.FailedPrecondition, "row %d has grammar %s here, its own is %s", reply.ID,
		reply.GrammarID, row.grammarID)
}

func (l *rowLedger) moveTo(at place) {
	row, reply := at.row, at.reply
	if row.grammarID == "" && reply.GrammarID != "" {
		row.grammarID, row.format = string(reply.GrammarID), l.format
	}
	row.failed = reply.State == Failed
	row.isLate = false
	tokens := row.open.Tokens
	count := len(tokens)
	if saysItsPlace(reply) {
		count = int(reply.TokenCount)
		row.isUsed = true
		tokens = tokens[:min(count, at.kept)]
	}
	if at.update != nil {
		tokens = append(tokens, at.update.GetTokens()[:count-len(tokens)]...)
		if at.update.RemainingTokens != nil {
			row.tokenLimit = proto.Int64(int64(len(tokens)) + int64(at.update.GetRemainingTokens()))
		}
	}
	row.open.Tokens = tokens
}

// applyReplay books the reply to the opens of a replay. Every row must stand where it is booked, but for two
// kinds: one whose place no server had told, which may have been opened with what is refused, and one whose
// server said that it cannot go on, whose id is taken until it is closed. Errors: Unavailable (this server
// does not go on with a row), FailedPrecondition (a row has another grammar here; nothing is booked).
func (l *rowLedger) applyReplay(replies []Row) error {
	answers := make(map[RowID]*Row, len(replies))
	for i := range replies {
		reply := &replies[i]
		if answers[reply.ID] == nil {
			answers[reply.ID] = reply
		}
		if row := l.rows[reply.ID]; row != nil {
			if err := l.checkGrammar(row, reply); err != nil {
				return err
			}
		}
	}
	for _, id := range l.ids() {
		row, reply := l.rows[id], answers[id]
		if row.isLate {
			continue
		}
		if reply == nil {
			return cannotGoOn(id, "is not answered", nil)
		}
		if isForLoad(reply) && !row.failed {
			return cannotGoOn(id, "is refused", reply.Err)
		}
		if row.isUsed && !row.failed && reply.State != Compiling {
			if err := standsWhereBooked(row, reply); err != nil {
				return err
			}
		} else if saysItsPlace(reply) {
			l.moveTo(place{row: row, reply: reply, kept: len(row.open.Tokens)})
		}
	}
	return nil
}

func standsWhereBooked(row *ledgerRow, reply *Row) error {
	switch {
	case reply.Err != nil && !lacksRoom(reply):
		return cannotGoOn(reply.ID, "is refused", reply.Err)
	case len(reply.Masks) == 0 && !lacksRoom(reply):
		return cannotGoOn(reply.ID, "has no mask", nil)
	case int(reply.TokenCount) != len(row.open.Tokens):
		return cannotGoOn(reply.ID, "has not taken its tokens", nil)
	}
	return nil
}

// writeOpens opens every row as it is booked: in `replay`, whose reply nobody reads but applyReplay, or, where
// no server had told its place, in `next`, the caller's step behind it, to whose reply the row's first mask or
// error then belongs. Rows that `next` moves, forks or takes the ids of are needed before it.
func (l *rowLedger) writeOpens(replay, next *pb.Step) {
	needed := rowsNeededBy(next)
	for _, id := range l.ids() {
		row := l.rows[id]
		row.isLate = !row.isUsed && !row.failed && !needed[id]
		if row.isLate {
			next.Open = append(next.Open, l.openOf(row))
		} else {
			replay.Open = append(replay.Open, l.openOf(row))
		}
	}
}

func (l *rowLedger) openOf(row *ledgerRow) *pb.OpenRow {
	open := proto.CloneOf(row.open)
	l.writeText(open)
	if row.tokenLimit != nil {
		open.RemainingTokens = proto.Uint32(uint32(max(0, *row.tokenLimit-int64(len(open.Tokens)))))
	}
	return open
}

// rowsNeededBy are the rows that must be there before a step: those that it moves, forks or describes, and
// those whose ids it takes.
func rowsNeededBy(step *pb.Step) map[RowID]bool {
	rows := map[RowID]bool{}
	for _, ids := range [][]RowID{step.GetClose(), step.GetSnapshot()} {
		for _, id := range ids {
			rows[id] = true
		}
	}
	for _, open := range step.GetOpen() {
		rows[open.GetRow()] = true
	}
	for _, fork := range step.GetFork() {
		rows[fork.GetParent()], rows[fork.GetChild()] = true, true
	}
	for _, update := range step.GetRows() {
		if update.GetRollback() > 0 || len(update.GetTokens()) > 0 {
			rows[update.GetRow()] = true
		}
	}
	return rows
}

// cannotGoOn is a server's fault, with the server's own words and its time to come again where it said them.
func cannotGoOn(id RowID, why string, said *Error) error {
	own := errorf(codes.Unavailable, "row %d cannot go on here: %s", id, why)
	if said != nil {
		own = errorf(codes.Unavailable, "row %d cannot go on here: %s", id, said.Message)
		own.Reason, own.RetryAfter = said.Reason, said.RetryAfter
	}
	return own
}

// isForLoad is whether a row was refused for load: the server had no room for its grammar, and may later.
func isForLoad(reply *Row) bool {
	isRefused := reply.State == Failed || reply.State == Refused
	return isRefused && reply.Err != nil && reply.Err.RetryAfter > 0
}

// refusesOpening is whether a row of `before` tokens, which says for the first time where it stands, was
// opened with one that is refused: it stands before that, and has taken nothing else.
func refusesOpening(reply *Row, before int) bool {
	return reply.Err != nil && reply.RefusedToken != nil &&
		reply.RefusedToken.GetIndex() == reply.TokenCount && int(reply.TokenCount) < before
}

// lacksRoom is whether the row's masks, and nothing else, were refused: they would not have fitted.
func lacksRoom(reply *Row) bool {
	return reply.Err != nil && reply.Err.Code == codes.ResourceExhausted && reply.Err.Place == "positions"
}

// refusesAll is whether an update of a row of `before` tokens was refused as a whole, its rollback included.
func refusesAll(reply *Row, before int) bool {
	return reply.Err != nil && int(reply.TokenCount) == before && !lacksRoom(reply) &&
		!strings.HasPrefix(reply.Err.Place, "tokens[")
}

// saysItsPlace is whether a row says where it stands: with masks, or with an error in their place.
func saysItsPlace(reply *Row) bool {
	isUsed := reply.State == Free || reply.State == Active || reply.State == Finished
	return len(reply.Masks) > 0 || isUsed && reply.Err != nil
}
