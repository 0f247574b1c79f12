// What a completion queue of ours knows an operation by: who is told that it has ended.
#ifndef MASKD_SERVICE_CALL_EVENT_H_
#define MASKD_SERVICE_CALL_EVENT_H_

namespace maskd::service {

class CallEvent {
 public:
  // The operation has ended, `ok` or not. On the queue's thread.
  virtual void Complete(bool ok) = 0;

 protected:
  ~CallEvent() = default;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALL_EVENT_H_
