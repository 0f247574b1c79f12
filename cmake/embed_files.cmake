# maskd_embed_files(OUTPUT HEADER NAMESPACE FUNCTION ROW file...)
#
# Writes the C++ file OUTPUT, which defines what HEADER declares:
#   std::span<const ROW> NAMESPACE::FUNCTION()
# the name and the text of each file. A file that changes is read again.
function(maskd_embed_files output header namespace function row)
  set(rows "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME)
    string(APPEND rows "    {\"${name}\", R\"asset(${text})asset\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[
#include "@header@"

namespace @namespace@ {
namespace {

constexpr @row@ kFiles[] = {
@rows@};

}  // namespace

std::span<const @row@> @function@() { return kFiles; }

}  // namespace @namespace@
]=])
endfunction()
