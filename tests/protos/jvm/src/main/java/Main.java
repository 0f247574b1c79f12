import com.google.protobuf.ByteString;
import io.maskd.v1.CheckRequest;
import io.maskd.v1.MaskServiceGrpc;

/** A message there and back; the service's stub is there. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    byte[] text = {(byte) 255};
    CheckRequest sent = CheckRequest.newBuilder().setRawText(ByteString.copyFrom(text)).build();
    if (!CheckRequest.parseFrom(sent.toByteArray()).equals(sent)
        || !MaskServiceGrpc.SERVICE_NAME.equals("maskd.v1.MaskService")
        || !MainKt.same()) {
      throw new IllegalStateException("the message is not what was sent");
    }
  }
}
