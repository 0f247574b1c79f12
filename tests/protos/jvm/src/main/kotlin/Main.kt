import com.google.protobuf.ByteString
import io.maskd.v1.CheckRequest
import io.maskd.v1.MaskServiceGrpcKt
import io.maskd.v1.checkRequest

/** A message there and back; the service's coroutine stub is there. */
fun same(): Boolean {
    val sent = checkRequest { rawText = ByteString.copyFrom(byteArrayOf(-1)) }
    return CheckRequest.parseFrom(sent.toByteArray()) == sent && MaskServiceGrpcKt.SERVICE_NAME == "maskd.v1.MaskService"
}
