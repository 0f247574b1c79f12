package io.maskd.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.maskd.v1.RowError;
import java.time.Duration;
import java.util.List;

/** What went wrong with a call, a stream or a row. */
public final class MaskdException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** See {@link #code}. */
  private final Status.Code code;

  /** See {@link #reason}. */
  private final String reason;

  /** See {@link #place}. */
  private final String place;

  /** See {@link #retryAfter}. */
  private final Duration retryAfter;

  MaskdException(Status.Code code, String message) {
    this(code, message, "", "", null, null);
  }

  MaskdException(
      Status.Code code, String message, String reason, String place, Duration retryAfter, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.reason = reason;
    this.place = place;
    this.retryAfter = retryAfter;
  }

  /**
   * Says the canonical code.
   *
   * @return UNAVAILABLE where no server answers, DEADLINE_EXCEEDED where it does not in time, INTERNAL where it
   *     breaks the protocol; else the call's own, of protos/maskd/v1
   */
  public Status.Code code() {
    return code;
  }

  /**
   * Says the stable reason.
   *
   * @return in UPPER_SNAKE_CASE; empty where there is none
   */
  public String reason() {
    return reason;
  }

  /**
   * Says where.
   *
   * @return a JSON Pointer or line:column in the caller's own source, or a field of the request; empty where there
   *     is none
   */
  public String place() {
    return place;
  }

  /**
   * Says after what time the same may succeed.
   *
   * @return null where the refusal is not for load
   */
  public Duration retryAfter() {
    return retryAfter;
  }

  static MaskdException internal(String message) {
    return new MaskdException(Status.Code.INTERNAL, message);
  }

  /** The same, with the server that it is of. */
  MaskdException at(String address) {
    return new MaskdException(code, address + ": " + getMessage(), reason, place, retryAfter, this);
  }

  /** The error of a call, with the words of what lies behind it: gRPC's own seldom name the system's. */
  static MaskdException of(Throwable error) {
    if (error instanceof MaskdException own) {
      return own;
    }
    Status status = Status.fromThrowable(error);
    String message = status.getDescription() == null ? "" : status.getDescription();
    for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
      // Netty's words for a socket that is not there are the exception's name alone.
      String text = cause.getMessage() != null ? cause.getMessage() : cause.getClass().getSimpleName();
      if (!message.contains(text)) {
        message += (message.isEmpty() ? "" : ": ") + text;
      }
    }
    return withDetails(status.getCode(), message, error);
  }

  private static MaskdException withDetails(Status.Code code, String message, Throwable error) {
    String reason = "";
    String place = "";
    Duration retryAfter = null;
    com.google.rpc.Status details =
        error instanceof StatusRuntimeException ? StatusProto.fromThrowable(error) : null;
    List<Any> all = details == null ? List.of() : details.getDetailsList();
    try {
      for (Any detail : all) {
        if (detail.is(ErrorInfo.class)) {
          reason = detail.unpack(ErrorInfo.class).getReason();
        } else if (detail.is(BadRequest.class)) {
          var fields = detail.unpack(BadRequest.class).getFieldViolationsList();
          place = fields.isEmpty() ? "" : fields.get(0).getField();
        } else if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        }
      }
    } catch (InvalidProtocolBufferException unreadable) {
      // What cannot be read says nothing; code and message stand.
    }
    return new MaskdException(code, message, reason, place, retryAfter, error);
  }

  /** The error of a row. */
  static MaskdException of(RowError row) {
    Duration retryAfter = row.hasRetryAfterMs() ? Duration.ofMillis(row.getRetryAfterMs() & 0xffffffffL) : null;
    Status.Code code = Status.fromCodeValue(row.getCode()).getCode();
    return new MaskdException(code, row.getMessage(), row.getReason(), row.getPlace(), retryAfter, null);
  }
}
