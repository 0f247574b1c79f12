# maskd_embed_json(OUTPUT HEADER FUNCTION file...)
#
# Writes the C++ file OUTPUT, which defines what HEADER declares:
#   std::span<const EmbeddedJson> FUNCTION()
# the text of each JSON file with its "$id" or "id". A file that changes is read again.
function(maskd_embed_json output header function)
  set(rows "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(JSON uri ERROR_VARIABLE missing GET "${text}" "$id")
    if(missing)
      string(JSON uri GET "${text}" "id")
    endif()
    string(APPEND rows "    {\"${uri}\", R\"json(${text})json\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[
#include "@header@"

namespace maskd {
namespace {

constexpr EmbeddedJson kTexts[] = {
@rows@};

}  // namespace

std::span<const EmbeddedJson> @function@() { return kTexts; }

}  // namespace maskd
]=])
endfunction()
